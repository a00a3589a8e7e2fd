import torch
from torch import nn
torch.manual_seed(0)
cell = nn.RNNCell(2, 3)
x = torch.randn(4, 1, 2)
out = torch.zeros(4, 1, 3)
h = torch.zeros(1, 3)
for t in range(4):
    h = cell(x[t], h)
    out[t] = h
out.pow(2).mean().backward()
print(cell.weight_hh.grad.shape)
