# grad_none at 4: x
import torch
x = torch.ones(2, requires_grad=True)
print(x.grad)
(x * 2).sum().backward()
print(x.grad)
