import torch

a = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
b = a.clone()
c = a.detach()

c[0] = 8.0
print(a)
print(b)

(b * b).sum().backward()
print(a.grad)
