# numpy_requires_grad: y
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
print(y.numpy())  # cause
