# grad_none at 6: net[0].weight
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
for p in net[0].parameters():
    p.requires_grad = False
net(torch.ones(1, 2)).sum().backward()
print(net[0].weight.grad, net[1].weight.grad)
