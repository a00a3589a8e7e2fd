# parameter_detached at 7: p
import torch
from torch import nn
net = nn.Linear(2, 1)
net(torch.ones(1, 2)).sum().backward()
for p in net.parameters():
    p = p - 0.1 * p.grad
print(net.weight)
