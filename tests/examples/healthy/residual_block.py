import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, padding=1)
        self.norm = nn.BatchNorm2d(n)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), Block(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
loss = nn.functional.cross_entropy(model(torch.randn(4, 1, 6, 6)), torch.randint(0, 2, (4,)))
loss.backward()
print(loss.item())
