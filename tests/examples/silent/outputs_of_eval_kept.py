# graph_grows at 7: preds
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
preds = []
for batch in torch.ones(5, 3, 2):
    preds.append(net(batch))
print(torch.cat(preds).shape)
