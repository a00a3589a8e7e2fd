# grad_none: feat
import torch
from torch import nn
conv, fc = nn.Conv1d(1, 2, 2), nn.Linear(4, 1)
feat = conv(torch.rand(1, 1, 3))  # cause
score = fc(feat.flatten(1))
score.backward()
cam = (feat * feat.grad).sum()
