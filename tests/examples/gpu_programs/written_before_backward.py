import torch
w = torch.ones(4, device="cuda", requires_grad=True)
y = w.sigmoid()
y.mul_(2)
y.sum().backward()
