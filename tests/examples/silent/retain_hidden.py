# graph_grows at 8: h
import torch
from torch import nn
cell = nn.RNNCell(2, 3)
h = torch.zeros(1, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.0)
for t in range(5):
    h = cell(torch.randn(1, 2), h)
    loss = h.sum()
    opt.zero_grad()
    loss.backward(retain_graph=True)
