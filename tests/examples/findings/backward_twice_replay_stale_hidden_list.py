# backward_twice: hs
import torch
from torch import nn
torch.manual_seed(0)
cell = nn.GRUCell(2, 3)
hs = [torch.zeros(1, 3)]
for t in range(3):
    hs.append(cell(torch.ones(1, 2), hs[-1]))  # cause
    loss = hs[-1].pow(2).sum()
    loss.backward()
