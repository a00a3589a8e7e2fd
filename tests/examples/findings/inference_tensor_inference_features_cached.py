# inference_tensor: feats
import torch
from torch import nn
backbone, head = nn.Linear(3, 4), nn.Linear(4, 1)
@torch.inference_mode()
def extract(x):
    return torch.relu(backbone(x))  # cause
feats = extract(torch.ones(2, 3))  # cause
loss = head(feats).sum()  # cause
loss.backward()
