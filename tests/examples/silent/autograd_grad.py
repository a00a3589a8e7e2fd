# grad_none at 5: x
import torch
x = torch.ones(2, requires_grad=True)
y = (x ** 2).sum()
(g,) = torch.autograd.grad(y, x)
print(g, x.grad)
