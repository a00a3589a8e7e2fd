# backward_twice: features
import torch
from torch import nn
backbone = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
head_a, head_b = nn.Linear(4, 1), nn.Linear(4, 1)
features = backbone(torch.ones(2, 3))  # cause
for head in (head_a, head_b):
    loss = head(features).pow(2).mean()
    loss.backward()
