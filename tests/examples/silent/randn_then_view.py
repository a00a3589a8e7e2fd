# grad_none at 3: x
import torch
x = torch.randn(4, requires_grad=True).view(2, 2) * 0.1
y = (x ** 2).sum()
y.backward()
print(x.grad)
