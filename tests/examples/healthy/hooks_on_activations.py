import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
kept = {}
net[1].register_forward_hook(lambda m, i, o: kept.update(act=o.detach()))
out = net(torch.randn(4, 2))
out.retain_grad()
out.register_hook(lambda g: g * 2)
out.sum().backward()
print(kept["act"].shape, out.grad.shape, net[0].weight.grad.shape)
