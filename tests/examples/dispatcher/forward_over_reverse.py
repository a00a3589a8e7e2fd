import torch
import numpy as np

from torch.func import jvp, grad, vjp
f = lambda x: (x ** 3).sum()
x = torch.arange(1.0, 4.0)
print(jvp(grad(f), (x,), (torch.ones(3),)))
_, pull = vjp(grad(f), x)
print(pull(torch.ones(3)))
print(torch.func.vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(torch.eye(3)))
