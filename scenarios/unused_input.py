import torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
y = x * x

print(torch.autograd.grad(y, x, retain_graph=True))
print(torch.autograd.grad(y, [x, w], retain_graph=True, allow_unused=True))
torch.autograd.grad(y, [x, w])
