import torch
import numpy as np

@torch.jit.script
def f(x):
    v = x[0]
    v.add_(1)
    x.mul_(2)
    return v
x = torch.ones(2, 2)
for _ in range(3):
    v = f(x)
print(x, v, x._version, v._base is x, v._is_view())
