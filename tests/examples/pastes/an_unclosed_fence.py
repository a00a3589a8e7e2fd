import torch
x = torch.ones(2, requires_grad=True)
y = x.sigmoid()
y.mul_(2)
y.sum().backward()
