# unused_input: x y
import torch
x = torch.tensor(1.0, requires_grad=True)
w = torch.tensor(1.0, requires_grad=True)
y = x.detach() * 2 + w  # cause
torch.autograd.grad(y, x)
