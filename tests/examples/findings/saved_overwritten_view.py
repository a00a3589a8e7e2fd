# saved_overwritten: h row
import torch
x = torch.rand(2, 3, requires_grad=True)
h = torch.tanh(x)
row = h[0]
row.zero_()  # cause
h.sum().backward()
