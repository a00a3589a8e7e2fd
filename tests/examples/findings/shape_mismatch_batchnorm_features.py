# shape_mismatch: bn
import torch
from torch import nn
fc, bn = nn.Linear(4, 6), nn.BatchNorm1d(4)  # cause
h = fc(torch.ones(3, 4))
print(bn(h))  # cause
