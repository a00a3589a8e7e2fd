import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
groups = lambda: [{"params": list(net[0].parameters()), "lr": 0.01}, {"params": list(net[2].parameters()), "lr": 0.1}]
first = torch.optim.SGD(groups())
second = torch.optim.Adam(groups())
for step in range(4):
    optimizer = first if step < 2 else second
    optimizer.zero_grad()
    net(torch.randn(5, 3)).pow(2).mean().backward()
    optimizer.step()
