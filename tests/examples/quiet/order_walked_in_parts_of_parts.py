"""A shuffled order that a loop goes over in parts: when the loop is over, its variable is the last of them."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
points = torch.randn(320, 3)
heights = points.sum(1, keepdim=True)

for epoch in range(2):
    total = 0.0
    for chosen in torch.randperm(320).split(40):
        optimizer.zero_grad()
        for part in chosen.split(20):
            error = (net(points[part]) - heights[part]).square().mean() / 2
            error.backward()
            total += error.item()
        optimizer.step()
    print(epoch, total)
