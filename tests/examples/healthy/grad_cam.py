import torch
from torch import nn
torch.manual_seed(0)
conv, fc = nn.Conv2d(1, 2, 3), nn.Linear(2, 3)
x = torch.randn(1, 1, 6, 6)
maps = conv(x)
maps.retain_grad()
score = fc(torch.relu(maps).mean((2, 3)))[0, 1]
score.backward()
weights = maps.grad.mean((2, 3), keepdim=True)
cam = torch.relu((weights * maps).sum(1)).detach()
print(cam.shape)
