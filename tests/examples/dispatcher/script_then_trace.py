import torch
import numpy as np

@torch.jit.script
def double(x):
    return x * 2
print(double(torch.ones(2)))
traced = torch.jit.trace(lambda x: x * 2 + 1, torch.ones(3))
print(traced.graph, traced(torch.arange(3.0)))
