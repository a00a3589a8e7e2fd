import torch
import numpy as np

from torch.func import grad, vmap
def inner(x):
    y = x * 2
    z = y.detach() + x
    w = z.clone()
    w[0] = 3.0
    return (w * x).sum()
def outer(x):
    g = grad(inner)(x)
    return g * x
print(outer(torch.ones(3)), vmap(outer)(torch.ones(2, 3)), grad(lambda x: outer(x).sum())(torch.ones(3)))
