# backward_twice: y
import torch
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
(first,) = torch.autograd.grad(y, x)  # cause
(second,) = torch.autograd.grad(y, x)  # cause
