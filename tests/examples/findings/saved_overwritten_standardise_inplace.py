# saved_overwritten: x
import torch
w = torch.randn(3, requires_grad=True)
x = w.exp()
x -= x.mean()
x /= x.std()  # cause
x.sum().backward()
