# no_graph: pred
import numpy as np
import torch
from torch import nn
def rmse(pred, target):
    pred = pred.detach().numpy()  # cause
    return np.sqrt(((pred - target.numpy()) ** 2).mean())
model = nn.Linear(2, 1)
pred = model(torch.ones(3, 2))
loss = torch.tensor(rmse(pred, torch.zeros(3, 1)))  # cause
loss.backward()
