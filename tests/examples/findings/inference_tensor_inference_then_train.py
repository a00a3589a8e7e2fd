# inference_tensor: feats
import torch
from torch import nn
enc, head = nn.Linear(2, 3), nn.Linear(3, 1)
with torch.inference_mode():
    feats = enc(torch.ones(4, 2))  # cause
loss = head(feats).sum()
loss.backward()
