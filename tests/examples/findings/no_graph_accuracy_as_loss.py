# no_graph: preds
import torch
from torch import nn
net = nn.Linear(2, 1)
y = torch.tensor([[1.0], [0.0]])
preds = (torch.sigmoid(net(torch.ones(2, 2))) > 0.5).float()  # cause
loss = nn.BCELoss()(preds, y)
loss.backward()
