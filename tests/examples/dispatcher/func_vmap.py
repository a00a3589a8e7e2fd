import torch
import numpy as np

from torch.func import vmap
a, b = torch.arange(6.0).view(2, 3), torch.ones(3, 2)
print(vmap(torch.dot)(a, b.T), vmap(torch.mul, in_dims=(0, 1))(a, b), vmap(lambda x, k: x * k, in_dims=(0, None))(a, 3))
print(vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(a), vmap(vmap(lambda x: x + 1))(a))
print(vmap(lambda d: d["x"] * 2, in_dims=({"x": 1},))({"x": b}), vmap(torch.sum, chunk_size=1)(a))
print(vmap(lambda x: x + torch.rand(1), randomness="same")(a), vmap(lambda x: x + torch.rand(1), randomness="different")(a))
for bad in (lambda x: x.item(), lambda x: x if x.sum() > 0 else -x, lambda x: torch.rand(1) + x):
    try:
        vmap(bad)(a)
    except Exception as error:
        print(type(error).__name__, str(error)[:60])
try:
    vmap(torch.add, in_dims=(0, 0))(a, torch.ones(5))
except Exception as error:
    print(type(error).__name__, str(error)[:80])
