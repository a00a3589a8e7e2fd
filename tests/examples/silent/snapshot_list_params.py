# shared_memory at 7: snap
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
snap = [p.data for p in net.parameters()]
net(torch.ones(1, 2)).sum().backward()
opt.step()
for a, b in zip(snap, net.parameters()):
    print((a == b).all())
