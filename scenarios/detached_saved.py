import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 4
doubled = (b * 2).sum()
squared = (b * b).sum()

b.detach_()
doubled.backward()
print(a.grad, b._version)

squared.backward()
