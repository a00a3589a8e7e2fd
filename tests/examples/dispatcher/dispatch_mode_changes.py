import torch
import numpy as np

from torch.utils._python_dispatch import TorchDispatchMode
class Double(TorchDispatchMode):
    count = 0
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Double.count += 1
        out = func(*args, **(kwargs or {}))
        return out * 2 if func is torch.ops.aten.sin.default else out
with Double():
    a = torch.ones(2).sin()
    for k in range(3):
        a = a + k
    b = torch.nn.Linear(2, 2)(a)
print(a, Double.count, b.requires_grad)
