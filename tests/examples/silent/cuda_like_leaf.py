# grad_none at 3: w
import torch
w = torch.randn(2, 2, requires_grad=True).double()
x = torch.ones(2, 2, dtype=torch.double)
(w @ x).sum().backward()
print(w.grad)
