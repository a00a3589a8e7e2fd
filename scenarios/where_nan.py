import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), 0.0)
y.sum().backward()
print(y)
print(x.grad)

x.grad = None
safe = torch.where(x > 0, x, 1.0)
torch.where(x > 0, safe.sqrt(), 0.0).sum().backward()
print(x.grad)
