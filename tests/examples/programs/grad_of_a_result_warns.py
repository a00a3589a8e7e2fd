# Reading .grad of a non-leaf warns and gives None.
import torch
x = torch.ones(1, requires_grad=True)
y = x * 2
y.backward()
print(y.grad, x.grad)
