# no_graph: losses
import torch
from torch import nn

torch.manual_seed(0)
import numpy as np

model = nn.Linear(2, 1)
losses = []
for k in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    losses.append(loss.item())  # cause
total = np.mean(losses)
total.backward()
