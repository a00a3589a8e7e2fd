import torch
import numpy as np

from torch.func import grad, grad_and_value, vjp, jvp, linearize
f = lambda x: (x ** 3).sum()
x = torch.arange(3.0)
print(grad(f)(x), grad(lambda x: grad(f)(x).sum())(x), grad_and_value(f)(x))
out, pull = vjp(lambda a, b: a * b, x, x + 1)
print(out, pull(torch.ones(3)), jvp(torch.sin, (x,), (torch.ones(3),)))
out, push = linearize(torch.exp, x)
print(out, push(torch.ones(3)))
print(grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 2))
print(grad(lambda x: ((x * 2).sum(), x), has_aux=True)(x))
