import torch

x = torch.zeros(2, requires_grad=True)

x.norm().backward()
print(x.grad)
norm_is_nan = bool(x.grad.isnan().any())

x.grad = None
root = (x * x).sum().sqrt()
root.backward()
print(x.grad)
