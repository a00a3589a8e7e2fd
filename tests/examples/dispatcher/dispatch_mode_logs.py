import torch
import numpy as np

from torch.utils._python_dispatch import TorchDispatchMode
class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func, [type(a).__name__ for a in args])
        return func(*args, **(kwargs or {}))
x = torch.ones(2, 2, requires_grad=True)
with Log():
    y = (x * 2).relu()
    v = (x * 3)[0]
    v.detach().add_(1)
    z = y.reshape(4).sum()
    z.backward()
    print(x.grad)
    n = torch.tensor([1, 2])
print(y)
