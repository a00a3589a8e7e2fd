import torch
import torch.nn as nn

torch.manual_seed(0)
cell = nn.GRUCell(2, 2)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
stream = torch.randn(4, 1, 2)
h = torch.zeros(1, 2)
for start in range(0, 4, 2):
    h = h.detach()
    loss = torch.zeros(())
    for x in stream[start : start + 2]:
        h = cell(x, h)
        loss = loss + h.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
