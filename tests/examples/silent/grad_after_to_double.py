# grad_none at 4: w
import torch
w = torch.rand(3, requires_grad=True)
w = w.double()
(w * 2).sum().backward()
print(w.grad)
