# shape_mismatch: fc1
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(4 * 8 * 8, 2)  # cause
    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.flatten(1)
        return self.fc1(x)  # cause
print(Net()(torch.ones(2, 1, 8, 8)))
