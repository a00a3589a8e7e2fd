import torch
from torch import nn

torch.manual_seed(0)
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(3, 3)
x = torch.randn(2, 3, requires_grad=True)
out = checkpoint(layer, x, use_reentrant=True)
out.sum().backward()
print(layer.weight.grad.shape, x.grad.shape)
