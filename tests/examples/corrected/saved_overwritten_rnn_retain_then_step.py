import torch
from torch import nn
torch.manual_seed(0)
cell, out = nn.RNNCell(2, 3), nn.Linear(3, 1)
opt = torch.optim.SGD(list(cell.parameters()) + list(out.parameters()), lr=0.1)
h = torch.zeros(1, 3)
for t in range(3):
    h = cell(torch.ones(1, 2), h.detach())
    loss = out(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
