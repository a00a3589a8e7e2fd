import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
v1 = torch.full((1,), 0.5, requires_grad=True)
with Log():
    v5 = v1.chunk(2)[0]
    a = v1[0]
v2 = torch.ones(2, 2)
with Log():
    v6 = v2.unbind()[0]
with torch.inference_mode():
    v7 = v2.unbind()[0]
