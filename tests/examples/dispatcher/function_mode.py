import torch
import numpy as np

from torch.overrides import TorchFunctionMode
class Log(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(getattr(func, "__name__", func))
        return func(*args, **(kwargs or {}))
with Log():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = torch.nn.functional.relu(y)
    y.shape
    y.sum().backward()
    q = x.grad
with torch.device("meta"):
    m = torch.ones(2, 2)
print(m.device, z, torch.get_default_device())
