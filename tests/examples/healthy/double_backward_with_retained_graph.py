import torch
from torch import nn

torch.manual_seed(0)
x = torch.tensor(2.0, requires_grad=True)
y = x**3
(g,) = torch.autograd.grad(y, x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
print(g, h)
