import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()

x.detach().zero_()
try:
    y.backward()
    noticed = False
except RuntimeError:
    noticed = True
print(noticed, x.grad)
