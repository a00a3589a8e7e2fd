import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 3)
h = torch.zeros(1, 3)
outputs = []
for t in range(6):
    h = cell(torch.randn(1, 2), h)
    outputs.append(h)
loss = torch.stack(outputs).sum()
loss.backward()
print(cell.weight_hh.grad.shape)
