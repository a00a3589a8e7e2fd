import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def double_conv(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU(), nn.Conv2d(outside, outside, 3, padding=1), nn.ReLU()
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = double_conv(1, 4), double_conv(4, 8)
        self.bottom = double_conv(8, 16)
        self.up2, self.up1 = nn.ConvTranspose2d(16, 8, 2, 2), nn.ConvTranspose2d(8, 4, 2, 2)
        self.conv2, self.conv1 = double_conv(16, 8), double_conv(8, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        x = self.conv2(torch.cat([self.up2(c), b], dim=1))
        x = self.conv1(torch.cat([self.up1(x), a], dim=1))
        return self.out(x)


net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, mask = torch.randn(1, 1, 8, 8), (torch.rand(1, 1, 8, 8) > 0.5).float()
for _ in range(2):
    loss = F.binary_cross_entropy_with_logits(net(x), mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
