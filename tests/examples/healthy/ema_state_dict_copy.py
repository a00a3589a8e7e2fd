import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
ema = copy.deepcopy(net).eval().requires_grad_(False)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(4, 2)).pow(2).mean().backward()
    opt.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), net.parameters()):
            e.mul_(0.9).add_(p, alpha=0.1)
print(ema(torch.ones(1, 2)))
