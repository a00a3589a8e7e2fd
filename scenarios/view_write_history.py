import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 2
row = y[0]
print(y.grad_fn.name())

row.mul_(8)
print(y.grad_fn.name())

y.sum().backward()
print(x.grad)
