import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 4
p = h**2

p.add_(1)
p.sum().backward(retain_graph=True)
print(x.grad)

h.add_(1)
p.sum().backward()
