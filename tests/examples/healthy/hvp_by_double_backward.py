import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 3).sum() + x.prod()
(g,) = torch.autograd.grad(y, x, create_graph=True)
v = torch.tensor([1.0, 0.5])
(hv,) = torch.autograd.grad((g * v).sum(), x)
print(hv)
