import torch
import numpy as np

@torch.jit.script
def f(x):
    later = torch.jit.fork(torch.relu, x)
    return torch.jit.wait(later) + 1
print(f(torch.tensor([-1.0, 2.0])), torch.jit.wait(torch.jit.fork(lambda x: x + 1, torch.ones(2))))
