import torch
import numpy as np

from torch.func import functional_call, stack_module_state, vmap, grad
nets = [torch.nn.Linear(2, 1) for _ in range(2)]
params, buffers = stack_module_state(nets)
base = torch.nn.Linear(2, 1).to("meta")
def loss(p, b, x, y):
    return ((functional_call(base, (p, b), (x,)) - y) ** 2).mean()
x, y = torch.ones(4, 2), torch.zeros(4, 1)
for step in range(3):
    g = vmap(grad(loss), in_dims=(0, 0, None, None))(params, buffers, x, y)
    params = {k: p - 0.1 * g[k] for k, p in params.items()}
print(params)
