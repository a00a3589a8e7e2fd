import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 2
k = x * 4
k.retain_grad()

(h * h + k).sum().backward()
print(x.grad)
print(k.grad)
print(h.grad)
