import torch
x = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
(g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
g.sum().backward()
print(g, x.grad)
