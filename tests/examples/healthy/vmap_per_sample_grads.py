import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

from torch.func import functional_call, grad, vmap

model = nn.Linear(3, 1)
params = {k: v.detach() for k, v in model.named_parameters()}


def loss(params, x, y):
    return F.mse_loss(functional_call(model, params, (x.unsqueeze(0),)).squeeze(0), y)


x, y = torch.randn(4, 3), torch.randn(4, 1)
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
print({k: tuple(v.shape) for k, v in per_sample.items()})
