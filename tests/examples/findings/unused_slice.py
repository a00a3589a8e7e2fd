# unused_input: x
import torch
x = torch.rand(3, requires_grad=True)
loss = (x ** 2).sum()
torch.autograd.grad(loss, x[0])  # cause
