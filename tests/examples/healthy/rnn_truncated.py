import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(2, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = torch.zeros(3, 4)
for chunk in range(3):
    h = h.detach()
    loss = 0.0
    for t in range(3):
        h = cell(torch.randn(3, 2), h)
        loss = loss + head(h).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
