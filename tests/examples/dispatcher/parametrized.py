import torch
import numpy as np

import torch.nn.utils.parametrize as P
class Symmetric(torch.nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)
layer = torch.nn.Linear(3, 3)
P.register_parametrization(layer, "weight", Symmetric())
with P.cached():
    print(torch.allclose(layer.weight, layer.weight.T), layer.weight is layer.weight)
layer(torch.ones(1, 3)).sum().backward()
print(layer.parametrizations.weight.original.grad)
print(torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 2)).weight.shape)
