import torch

x = torch.tensor([1.0, -2.0], requires_grad=True)
with torch.no_grad():
    a = x * 2
b = x > 0
c = x.sum().item()
d = torch.tensor(x.detach())
