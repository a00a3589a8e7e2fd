# .grad may be assigned, added to and deleted; requires_grad switched off.
import torch
x = torch.ones(2, requires_grad=True)
x.grad = torch.tensor([1.0, 2.0])
x.grad += 1
(x * 2).sum().backward()
print(x.grad)
x.requires_grad = False
del x.grad
print(x.grad, x)
