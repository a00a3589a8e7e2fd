# grad_none at 3: x
import torch
x = torch.ones(2)
w = torch.ones(2, requires_grad=True)
x.require_grad = True
(x * w).sum().backward()
print(x.grad)
