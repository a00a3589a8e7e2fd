import torch
import numpy as np

net = torch.nn.Linear(4, 4)
x = torch.ones(2, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    a = net(x)
    b = net(x)
    c = a + b
    d = torch.softmax(a, 0)
    print(a.dtype, c.dtype, d.dtype, torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
    with torch.autocast("cpu", enabled=False):
        e = net(x)
c.float().sum().backward()
print(e.dtype, net.weight.grad, a.grad_fn)
@torch.autocast("cpu", dtype=torch.bfloat16)
def f(x):
    return x @ x.T
print(f(x).dtype, torch.is_autocast_cache_enabled())
