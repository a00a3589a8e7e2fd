# saved_overwritten: h next mul
import torch
w = torch.tensor([2.0, 4.0], requires_grad=True)
h = torch.zeros(6)
y = w.sum() * h[::2]
h[1::2] = 1.0  # cause
y.sum().backward()
