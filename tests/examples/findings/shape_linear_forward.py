# shape_mismatch: fc2
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc2 = nn.Linear(10, 2)  # cause
    def forward(self, x):
        x = self.conv(x).flatten(1)
        return self.fc2(x)  # cause
Net()(torch.rand(1, 1, 8, 8))
