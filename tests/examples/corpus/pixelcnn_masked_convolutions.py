"""PixelCNN: masked convolutions, a gated block, sampling pixel by pixel, and a check that nothing looks ahead."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class MaskedConv2d(nn.Conv2d):
    def __init__(self, mask_type, *args, **kwargs):
        super().__init__(*args, **kwargs)
        assert mask_type in ("A", "B")
        self.register_buffer("mask", torch.ones_like(self.weight))
        _, _, h, w = self.weight.shape
        self.mask[:, :, h // 2, w // 2 + (mask_type == "B") :] = 0
        self.mask[:, :, h // 2 + 1 :] = 0

    def forward(self, x):
        self.weight.data *= self.mask
        return super().forward(x)


class GatedResidual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = MaskedConv2d("B", channels, 2 * channels, 3, padding=1)
        self.out = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        a, b = self.conv(x).chunk(2, dim=1)
        return x + self.out(torch.tanh(a) * torch.sigmoid(b))


class PixelCNN(nn.Module):
    def __init__(self, channels=6, blocks=2, levels=2):
        super().__init__()
        self.first = MaskedConv2d("A", 1, channels, 5, padding=2)
        self.blocks = nn.Sequential(*(GatedResidual(channels) for _ in range(blocks)))
        self.head = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(channels, levels, 1))

    def forward(self, x):
        return self.head(self.blocks(F.relu(self.first(x))))


model = PixelCNN()
print(model.first.mask[0, 0])

x = torch.rand(1, 1, 6, 6, requires_grad=True)
model(x)[0, :, 3, 3].sum().backward()
depends = x.grad[0, 0] != 0
print(depends.int())
assert not depends.view(-1)[3 * 6 + 3 :].any()

checker = (torch.arange(6)[:, None] + torch.arange(6)) % 2
data = torch.stack([checker, 1 - checker]).float().unsqueeze(1).repeat(4, 1, 1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
for epoch in range(5):
    loss = F.cross_entropy(model(data), data[:, 0].long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    bits = loss.item() / torch.log(torch.tensor(2.0)).item()
    print(f"{epoch} {bits:.4f} bits/dim")


@torch.no_grad()
def sample(n, size=4):
    model.eval()
    images = torch.zeros(n, 1, size, size)
    for i in range(size):
        for j in range(size):
            probs = F.softmax(model(images)[:, :, i, j], dim=-1)
            images[:, 0, i, j] = torch.multinomial(probs, 1).squeeze(-1).float()
    return images


print(sample(1)[0, 0].int())
