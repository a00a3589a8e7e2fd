# saved_overwritten: theta
import math
import torch
import torch.nn as nn

class Pose(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, v):
        theta = torch.sigmoid(self.fc(v))
        theta *= 2. * math.pi  # cause
        return torch.cos(theta) + torch.sin(theta)

pose = Pose()
out = pose(torch.ones(2, 3)).sum()
out.backward()
