import torch

x = torch.randn(4, 3, requires_grad=True)
mask = torch.tensor([True, False, True, True])
loss = x[mask].pow(2).mean()
loss.backward()
print(x.grad)
