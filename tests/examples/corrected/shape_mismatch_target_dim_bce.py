import torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
x, target = torch.ones(4, 3), torch.ones(4)
out = model(x)
loss = nn.BCELoss()(out.squeeze(1), target)
loss.backward()
