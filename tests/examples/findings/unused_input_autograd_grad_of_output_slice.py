# unused_input: x_last
import torch
x = torch.rand(2, 3, requires_grad=True)
x_last = x[:, -1]
out = (x ** 2).sum()
g, = torch.autograd.grad(out, x_last)  # cause
