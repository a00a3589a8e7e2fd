# no_graph: loss
import torch
from torch import nn
net = nn.Linear(2, 1)
with torch.no_grad():
    out = net(torch.ones(1, 2))  # cause
loss = (out - 1).pow(2).mean()
loss.backward()
