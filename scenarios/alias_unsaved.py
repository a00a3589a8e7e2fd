import torch

x = torch.tensor([1.0, 4.0], requires_grad=True)
y = x * 4
z = x.sqrt()

y.detach().zero_()
y.sum().backward()
holds = x.grad is None
print(y, x.grad)

z.detach().zero_()
z.sum().backward()
