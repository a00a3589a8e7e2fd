# no_graph: losses
import torch
from torch import nn
net = nn.Linear(2, 1)
losses = []
for x in torch.ones(3, 2):
    losses.append(net(x).pow(2))
total = torch.tensor(losses).mean()  # cause
total.backward()
