# state_not_carried at 9: gru_cell
import torch
from torch import nn

torch.manual_seed(0)
cell, out = nn.GRUCell(3, 4), nn.Linear(4, 1)
x, y = torch.randn(5, 2, 3), torch.randn(2, 1)
for x_t in x:
    h = cell(x_t)
loss = nn.functional.mse_loss(out(h), y)
loss.backward()
