import torch
from torch import nn
actor = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
action = actor(torch.ones(4, 3))
action = action.clamp(-0.5, 0.5)
(action ** 2).sum().backward()
