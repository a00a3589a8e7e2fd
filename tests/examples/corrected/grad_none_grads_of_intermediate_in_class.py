import torch
from torch import nn
conv, fc = nn.Conv1d(1, 2, 2), nn.Linear(4, 1)
feat = conv(torch.rand(1, 1, 3))
score = fc(feat.flatten(1))
feat.retain_grad()
score.backward()
cam = (feat * feat.grad).sum()
