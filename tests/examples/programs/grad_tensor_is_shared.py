# The name of a grad is the grad; writing its .data moves no version.
import torch
x = torch.ones(2, requires_grad=True)
x.sum().backward()
g = x.grad
x.grad.mul_(4)
print(g, g._version)
x.grad.data += 1
print(g, g._version, x.grad is g)
