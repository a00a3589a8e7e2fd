"""A small U-Net with skip connections and dice loss."""
import torch
import torch.nn as nn


class DoubleConv(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1, bias=False), nn.BatchNorm2d(out_ch), nn.ReLU(inplace=True),
            nn.Conv2d(out_ch, out_ch, 3, padding=1, bias=False), nn.BatchNorm2d(out_ch), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, features=(4, 8)):
        super().__init__()
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        self.pool = nn.MaxPool2d(2)
        ch = 1
        for f in features:
            self.downs.append(DoubleConv(ch, f))
            ch = f
        self.bottleneck = DoubleConv(features[-1], features[-1] * 2)
        for f in reversed(features):
            self.ups.append(nn.ConvTranspose2d(f * 2, f, kernel_size=2, stride=2))
            self.ups.append(DoubleConv(f * 2, f))
        self.final_conv = nn.Conv2d(features[0], 1, 1)

    def forward(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottleneck(x)
        skips = skips[::-1]
        for idx in range(0, len(self.ups), 2):
            x = self.ups[idx](x)
            x = self.ups[idx + 1](torch.cat((skips[idx // 2], x), dim=1))
        return self.final_conv(x)


def dice_loss(logits, target, smooth=1.0):
    pred = torch.sigmoid(logits).flatten(1)
    target = target.flatten(1)
    inter = (pred * target).sum(1)
    return (1 - (2 * inter + smooth) / (pred.sum(1) + target.sum(1) + smooth)).mean()


torch.manual_seed(0)
model = UNet()
images = torch.randn(2, 1, 8, 8)
masks = (images > 0).float()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(2):
    logits = model(images)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, masks) + dice_loss(logits, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
with torch.no_grad():
    preds = (torch.sigmoid(model(images)) > 0.5).float()
    print(f"{(preds == masks).float().mean():.2f}", preds.shape)
