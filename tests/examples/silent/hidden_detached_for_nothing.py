# result_unused at 13: hidden, detach
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
hidden = torch.zeros(1, 3)
for t in range(2):
    hidden = cell(torch.randn(1, 2), hidden)
    loss = hidden.pow(2).sum()
    optimizer.zero_grad()
    hidden.detach()
    loss.backward(retain_graph=True)
print(hidden)
