# no_graph: pred
import torch
from torch import nn
net = nn.Linear(2, 1)
pred = net(torch.ones(1, 2)).detach()  # cause
loss = nn.functional.mse_loss(pred, torch.zeros(1, 1))
loss.backward()
