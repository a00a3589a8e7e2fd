"""Classic convolutional networks at toy size: AlexNet, VGG blocks, NiN, Inception, DenseNet, their shapes."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def vgg_block(num_convs, in_channels, out_channels):
    layers = []
    for _ in range(num_convs):
        layers.append(nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1))
        layers.append(nn.ReLU())
        in_channels = out_channels
    layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


def nin_block(i, o, k, s, p):
    return nn.Sequential(nn.Conv2d(i, o, k, s, p), nn.ReLU(), nn.Conv2d(o, o, 1), nn.ReLU())


class Inception(nn.Module):
    def __init__(self, in_channels, c1, c2, c3, c4):
        super().__init__()
        self.p1_1 = nn.Conv2d(in_channels, c1, 1)
        self.p2_1, self.p2_2 = nn.Conv2d(in_channels, c2[0], 1), nn.Conv2d(c2[0], c2[1], 3, padding=1)
        self.p3_1, self.p3_2 = nn.Conv2d(in_channels, c3[0], 1), nn.Conv2d(c3[0], c3[1], 5, padding=2)
        self.p4_1, self.p4_2 = nn.MaxPool2d(3, stride=1, padding=1), nn.Conv2d(in_channels, c4, 1)

    def forward(self, x):
        p1 = F.relu(self.p1_1(x))
        p2 = F.relu(self.p2_2(F.relu(self.p2_1(x))))
        p3 = F.relu(self.p3_2(F.relu(self.p3_1(x))))
        p4 = F.relu(self.p4_2(self.p4_1(x)))
        return torch.cat((p1, p2, p3, p4), dim=1)


class DenseBlock(nn.Module):
    def __init__(self, num_convs, in_channels, growth):
        super().__init__()
        self.net = nn.Sequential(*[nn.Sequential(nn.BatchNorm2d(in_channels + i * growth), nn.ReLU(), nn.Conv2d(in_channels + i * growth, growth, 3, padding=1)) for i in range(num_convs)])

    def forward(self, X):
        for blk in self.net:
            X = torch.cat((X, blk(X)), dim=1)
        return X


net = nn.Sequential(vgg_block(1, 1, 4), nin_block(4, 6, 3, 1, 1), Inception(6, 2, (2, 3), (2, 2), 1), DenseBlock(2, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 5))
X = torch.randn(2, 1, 8, 8)
for blk in net:
    X = blk(X)
    print(blk.__class__.__name__, tuple(X.shape))
X.sum().backward()
print(net[2].p3_2.weight.grad.shape)
