# no_graph: g
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 3).sum()
(g,) = torch.autograd.grad(y, x)  # cause
penalty = (g ** 2).sum()
penalty.backward()
