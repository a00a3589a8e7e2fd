# requires_grad switched off after the graph was built.
import torch
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
y = (x * w).sum()
x.requires_grad_(False)
y.backward()
print(x.grad, w.grad)
