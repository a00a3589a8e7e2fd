import numpy as np
import torch
from torch import nn

def rmse(pred, target):
    p = pred
    t = target
    return ((p - t) ** 2).mean() ** 0.5

net = nn.Linear(2, 1)
output = net(torch.ones(3, 2))
loss = rmse(output, torch.zeros(3, 1))
loss.backward()
