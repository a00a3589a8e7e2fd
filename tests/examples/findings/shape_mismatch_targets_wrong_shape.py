# shape_mismatch: y_pred y
import torch
from torch import nn
y_pred = torch.sigmoid(nn.Linear(2, 1)(torch.ones(4, 2)))
y = torch.ones(4)
loss = nn.BCELoss()(y_pred, y)  # cause
