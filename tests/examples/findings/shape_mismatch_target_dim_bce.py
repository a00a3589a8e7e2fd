# shape_mismatch: target
import torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
x, target = torch.ones(4, 3), torch.ones(4)  # cause
out = model(x)
loss = nn.BCELoss()(out, target)  # cause
loss.backward()
