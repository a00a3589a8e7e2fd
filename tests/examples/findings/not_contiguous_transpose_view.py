# not_contiguous: x
import torch
from torch import nn
attn = nn.Linear(4, 4)
x = attn(torch.rand(2, 3, 4))
x = x.view(2, 3, 2, 2).transpose(1, 2)
x = x.transpose(1, 2).transpose(0, 1).view(2, 12)  # cause
