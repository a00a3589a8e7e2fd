import torch
import torch.nn as nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 3)
readout = nn.Linear(3, 1)
params = [*cell.parameters(), *readout.parameters()]
opt = torch.optim.SGD(params, lr=0.05)
sequence = torch.randn(4, 1, 2)
target = torch.ones(1, 1)
h = torch.zeros(1, 3)
for x in sequence:
    h = cell(x, h)
prediction = readout(h)
loss = (prediction - target).pow(2).sum()
loss.backward()
opt.step()
