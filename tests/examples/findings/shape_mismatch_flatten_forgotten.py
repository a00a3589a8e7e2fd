# shape_mismatch: fc x
import torch
from torch import nn

class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = self.fc(x)  # cause
        return x

CNN()(torch.rand(1, 1, 4, 4))
