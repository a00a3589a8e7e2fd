# saved_overwritten: action
import torch
from torch import nn
actor = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
action = actor(torch.ones(4, 3))
action.clamp_(-0.5, 0.5)  # cause
(action ** 2).sum().backward()
