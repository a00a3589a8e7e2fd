"""Channel and spatial attention blocks: SE, CBAM, and depthwise separable convolutions."""
import torch
from torch import nn


class SEBlock(nn.Module):
    def __init__(self, channels, reduction=2):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Linear(channels, channels // reduction, bias=False), nn.ReLU(inplace=True), nn.Linear(channels // reduction, channels, bias=False), nn.Sigmoid())

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.fc(self.pool(x).view(b, c)).view(b, c, 1, 1)
        return x * y.expand_as(x)


class SpatialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 3, padding=1, bias=False)

    def forward(self, x):
        avg_out = torch.mean(x, dim=1, keepdim=True)
        max_out, _ = torch.max(x, dim=1, keepdim=True)
        return x * torch.sigmoid(self.conv(torch.cat([avg_out, max_out], dim=1)))


def separable(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, i, 3, stride, 1, groups=i, bias=False), nn.BatchNorm2d(i), nn.ReLU6(inplace=True), nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU6(inplace=True))


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), SEBlock(4), SpatialAttention(), separable(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
x, y = torch.randn(4, 3, 6, 6), torch.tensor([0, 1, 0, 1])
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
full, sep = nn.Conv2d(4, 8, 3), separable(4, 8)
print(sum(p.numel() for p in full.parameters()), sum(p.numel() for p in sep.parameters()))
