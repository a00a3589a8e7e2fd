# saved_overwritten: target
import torch
from torch import nn
online, target = nn.Linear(2, 1), nn.Linear(2, 1)
x = torch.ones(3, 2, requires_grad=True)
td = online(x) - target(x)
with torch.no_grad():
    for p, t in zip(online.parameters(), target.parameters()):
        t.copy_(p)  # cause
td.pow(2).mean().backward()
