# frozen_updated at 13: embed.weight
import torch
from torch import nn
torch.manual_seed(0)
net = nn.ModuleDict({"embed": nn.Linear(5, 4), "out": nn.Linear(4, 1)})


def freeze(module):
    module.requires_grad_(False)


freeze(net["embed"])
net.requires_grad_(True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 5), torch.randn(8, 1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(net["out"](net["embed"](x)), y).backward()
    optimizer.step()
