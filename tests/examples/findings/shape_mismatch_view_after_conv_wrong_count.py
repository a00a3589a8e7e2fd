# shape_mismatch: x
import torch
from torch import nn
conv = nn.Conv2d(3, 6, 5)
x = torch.randn(2, 3, 32, 32)
x = conv(x)
x = x.view(-1, 6 * 14 * 14 + 1)  # cause
