import torch
from torch import nn
cell = nn.GRUCell(2, 3)
readout = nn.Linear(3, 1)
hidden = torch.zeros(1, 3)
for t in range(3):
    hidden = cell(torch.ones(1, 2), hidden)
    loss = (readout(hidden) - 1.0).pow(2).mean()
    loss.backward()
    hidden = hidden.detach()
