import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU())
x = torch.rand(4, 3)
loss = net(x).sum()
loss.backward()
