# unused_input: x
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 2).sum()
x = x.reshape(2, 1)  # cause
torch.autograd.grad(y, x)  # cause
