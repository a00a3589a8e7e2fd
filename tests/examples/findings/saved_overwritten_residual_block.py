# saved_overwritten: out
import torch
from torch import nn
import torch.nn.functional as F
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc1 = nn.Linear(c, c)
        self.fc2 = nn.Linear(c, c)
    def forward(self, x):
        identity = x
        out = F.relu(self.fc1(x))
        out = torch.sigmoid(self.fc2(out))
        out += identity  # cause
        return out
torch.manual_seed(0)
net = nn.Sequential(Block(4), Block(4))
y = net(torch.randn(2, 4))
y.mean().backward()
