import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, requires_grad=True)
hard = (x > 0).float()
y = x + (hard - x).detach()
(y * torch.arange(4.0)).sum().backward()
print(x.grad)
