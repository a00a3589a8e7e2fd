import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
d = x.detach().requires_grad_()
optimizer = torch.optim.SGD([d], lr=0.25)

(d * d).sum().backward()
never = d.grad is None
print(d.grad, x.grad)

optimizer.step()
print(d)
print(x)
