# shape_mismatch: x
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(6, 2))  # cause
x = torch.rand(5, 4)
net(x)  # cause
