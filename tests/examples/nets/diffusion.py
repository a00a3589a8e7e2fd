import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
STEPS = 10
betas = torch.linspace(1e-4, 0.02, STEPS)
alpha_bar = torch.cumprod(1 - betas, 0)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim, self.mlp = dim, nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half) / half)
        angles = t[:, None].float() * freqs
        return self.mlp(torch.cat([angles.sin(), angles.cos()], dim=1))


class ResBlock(nn.Module):
    def __init__(self, width, time):
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(2, width), nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(time, width)

    def forward(self, x, t):
        h = self.conv(F.silu(self.norm(x)))
        return x + h + self.time(t)[:, :, None, None]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.first = TimeEmbedding(8), nn.Conv2d(1, 4, 3, padding=1)
        self.blocks = nn.ModuleList([ResBlock(4, 8) for _ in range(3)])
        self.last = nn.Conv2d(4, 1, 3, padding=1)

    def forward(self, x, t):
        t, x = self.time(t), self.first(x)
        for block in self.blocks:
            x = block(x, t)
        return self.last(x)


net = Denoiser()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    x0, noise, t = torch.randn(2, 1, 4, 4), torch.randn(2, 1, 4, 4), torch.randint(0, STEPS, (2,))
    a = alpha_bar[t].view(-1, 1, 1, 1)
    loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()

with torch.no_grad():
    x = torch.randn(1, 1, 4, 4)
    for t in reversed(range(3)):
        x = x - betas[t] * net(x, torch.tensor([t]))
