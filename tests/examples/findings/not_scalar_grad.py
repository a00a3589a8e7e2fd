# not_scalar: out
import torch
x = torch.ones(2, requires_grad=True)
out = x.exp()
torch.autograd.grad(out, x)  # cause
