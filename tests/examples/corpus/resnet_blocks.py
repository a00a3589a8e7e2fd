"""Residual blocks: identity and downsampling shortcuts, a small ResNet, shapes block by block."""
import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, input_channels, num_channels, use_1x1conv=False, strides=1):
        super().__init__()
        self.conv1 = nn.Conv2d(input_channels, num_channels, kernel_size=3, padding=1, stride=strides)
        self.conv2 = nn.Conv2d(num_channels, num_channels, kernel_size=3, padding=1)
        if use_1x1conv:
            self.conv3 = nn.Conv2d(input_channels, num_channels, kernel_size=1, stride=strides)
        else:
            self.conv3 = None
        self.bn1 = nn.BatchNorm2d(num_channels)
        self.bn2 = nn.BatchNorm2d(num_channels)

    def forward(self, X):
        Y = F.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        if self.conv3:
            X = self.conv3(X)
        Y += X
        return F.relu(Y)


def resnet_block(input_channels, num_channels, num_residuals, first_block=False):
    blk = []
    for i in range(num_residuals):
        if i == 0 and not first_block:
            blk.append(Residual(input_channels, num_channels, use_1x1conv=True, strides=2))
        else:
            blk.append(Residual(num_channels, num_channels))
    return blk


torch.manual_seed(0)
b1 = nn.Sequential(nn.Conv2d(1, 4, kernel_size=3, stride=1, padding=1), nn.BatchNorm2d(4), nn.ReLU())
b2 = nn.Sequential(*resnet_block(4, 4, 1, first_block=True))
b3 = nn.Sequential(*resnet_block(4, 8, 1))
net = nn.Sequential(b1, b2, b3, nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(8, 10))
X = torch.rand(size=(2, 1, 12, 12))
for layer in net:
    X = layer(X)
    print(layer.__class__.__name__, "output shape:\t", X.shape)
loss = F.cross_entropy(X, torch.tensor([3, 7]))
loss.backward()
print(f"{loss.item():.4f}", sum(p.grad.numel() for p in net.parameters()))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
opt.step()
net.eval()
print(net(torch.rand(1, 1, 12, 12)).argmax(1))
