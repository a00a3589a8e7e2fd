import torch
import numpy as np

from torch.fx.experimental.proxy_tensor import make_fx
from torch.func import grad, vmap
print(make_fx(grad(lambda x: (x.sin() ** 2).sum()))(torch.ones(3)).code)
print(make_fx(vmap(lambda x: x.sum() * 2))(torch.ones(3, 2)).code)
net = torch.nn.Linear(2, 1)
def loss(params, x):
    return torch.func.functional_call(net, params, (x,)).sum()
g = make_fx(grad(loss))(dict(net.named_parameters()), torch.ones(1, 2))
print(g.code)
