import torch
x = torch.randn(2, requires_grad=True)
y = x.detach()
print(x.requires_grad, y.requires_grad)
