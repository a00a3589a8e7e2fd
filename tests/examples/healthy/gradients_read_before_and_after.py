import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
print(x.grad)
y = (x**2).sum()
y.backward()
print(x.grad)
x.grad = None
print(x.grad)
