# not_contiguous: q
import torch
from torch import nn
class Heads(nn.Module):
    def forward(self, x):
        q = x.view(2, 4, 2, 3).transpose(1, 2)  # cause
        return q.view(2, 4, 6)  # cause
Heads()(torch.rand(2, 4, 6))
