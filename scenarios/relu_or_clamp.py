import torch

x = torch.tensor([-1.0, 2.0], requires_grad=True)
c = x.clamp(min=0)
r = x.relu()

c.add_(4)
c.sum().backward()
print(x.grad)

r.add_(4)
r.sum().backward()
