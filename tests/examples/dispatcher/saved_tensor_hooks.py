import torch
import numpy as np

from torch.autograd.graph import saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks
def pack(x):
    print("pack", tuple(x.shape))
    return x
def unpack(x):
    print("unpack", tuple(x.shape))
    return x
a = torch.ones(3, requires_grad=True)
with saved_tensors_hooks(pack, unpack):
    y = (a * a).exp()
y.sum().backward()
print(a.grad)
with save_on_cpu():
    z = (a * a).sum()
z.backward()
print(a.grad)
try:
    with disable_saved_tensors_hooks("not here"):
        with saved_tensors_hooks(pack, unpack):
            pass
except RuntimeError as error:
    print(error)
