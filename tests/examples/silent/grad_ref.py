# shared_memory at 5: first
import torch
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
first = x.grad
(x * 3).sum().backward()
print(first, x.grad)
