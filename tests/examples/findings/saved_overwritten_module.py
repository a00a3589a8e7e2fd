# saved_overwritten: net
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))  # cause
x = torch.rand(4, 3)
loss = net(x).sum()  # cause
loss.backward()
