import torch
from torch import nn
enc, head = nn.Linear(2, 3), nn.Linear(3, 1)
with torch.no_grad():
    feats = enc(torch.ones(4, 2))
loss = head(feats).sum()
loss.backward()
