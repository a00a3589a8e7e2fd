# no_graph: output
import numpy as np
import torch
from torch import nn

def rmse(pred, target):
    p = pred.detach().cpu().numpy()  # cause
    t = target.cpu().numpy()
    return torch.tensor(np.sqrt(((p - t) ** 2).mean()))

net = nn.Linear(2, 1)
output = net(torch.ones(3, 2))
loss = rmse(output, torch.zeros(3, 1))
loss.backward()
