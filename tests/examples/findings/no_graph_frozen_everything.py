# no_graph: model
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
for param in model.parameters():
    param.requires_grad = False  # cause
loss = model(torch.ones(1, 2)).sum()
loss.backward()
