# custom_function: net
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))  # cause
net[1].register_full_backward_hook(lambda m, gi, go: None)  # cause
net(torch.ones(1, 2)).sum().backward()
