# detached_late at 7: b
import torch

a = torch.ones(2, requires_grad=True)
b = a * 2
c = b.sum()
b.detach_()
c.backward()
print(a.grad)
