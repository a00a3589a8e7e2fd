# nothing_moves at 5: `opt`
import torch
from torch import nn

net = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 2)).bfloat16()
opt = torch.optim.SGD(net.parameters(), lr=1e-5, momentum=0.9)
for _ in range(3):
    x = torch.arange(48.0).reshape(8, 6).to(net[0].weight.dtype)
    loss = net(x).float().pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
