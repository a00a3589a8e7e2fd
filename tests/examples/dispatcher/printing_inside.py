import torch
import numpy as np

from torch.func import grad, vmap
def f(x):
    print(x)
    print(x.shape, x.dtype, x.requires_grad)
    y = x * 2
    print(y)
    return y.sum()
grad(f)(torch.ones(2))
vmap(f)(torch.ones(2, 2))
from torch.utils._python_dispatch import TorchDispatchMode
class Count(TorchDispatchMode):
    n = 0
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Count.n += 1
        return func(*args, **(kwargs or {}))
with Count():
    f(torch.ones(2))
print(Count.n)
