# leaf_view_inplace: weight
import torch
from torch import nn
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
    def forward(self, x):
        self.weight[:, 0] = 0  # cause
        return x @ self.weight
net = Masked()
print(net(torch.ones(2, 3)).sum())
