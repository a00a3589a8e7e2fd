"""A two-dimensional NeRF: positional encoding, SIREN, and volume rendering along rays."""

import math

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(levels) * math.pi, persistent=False)

    def forward(self, x):
        angles = x[..., None] * self.bands
        return torch.cat([x, angles.sin().flatten(-2), angles.cos().flatten(-2)], dim=-1)


class Sine(nn.Module):
    def __init__(self, fan_in, fan_out, omega=10.0, first=False):
        super().__init__()
        self.omega, self.linear = omega, nn.Linear(fan_in, fan_out)
        bound = 1 / fan_in if first else math.sqrt(6 / fan_in) / omega
        with torch.no_grad():
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, x):
        return torch.sin(self.omega * self.linear(x))


axis = torch.linspace(-1, 1, 8)
grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1).view(-1, 2)
image = ((grid * 4).sin().prod(-1, keepdim=True) > 0).float()
nets = {
    "plain": nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)),
    "encoded": nn.Sequential(PositionalEncoding(3), nn.Linear(14, 16), nn.ReLU(), nn.Linear(16, 1)),
    "siren": nn.Sequential(Sine(2, 16, first=True), Sine(16, 16), nn.Linear(16, 1)),
}
for name, net in nets.items():
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(5):
        loss = F.mse_loss(net(grid), image)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    psnr = -10 * math.log10(loss.item())
    print(f"{name:8s} loss {loss.item():.4f} psnr {psnr:.2f}")


def get_rays(n, origin):
    angles = torch.linspace(-0.4, 0.4, n)
    directions = torch.stack([angles.cos(), angles.sin()], dim=-1)
    return origin.expand_as(directions), directions


def render(field, origins, directions, near=0.5, far=2.5, samples=8, jitter=True):
    t = torch.linspace(near, far, samples)
    if jitter:
        t = t + torch.rand(len(origins), samples) * (far - near) / samples
    else:
        t = t.expand(len(origins), samples)
    points = origins[:, None] + directions[:, None] * t[..., None]
    raw = field(points)
    density, colour = F.relu(raw[..., 0]), torch.sigmoid(raw[..., 1])
    delta = torch.cat([t[:, 1:] - t[:, :-1], torch.full_like(t[:, :1], 1e10)], dim=1)
    alpha = 1 - torch.exp(-density * delta)
    transmittance = torch.cumprod(1 - alpha + 1e-10, dim=1).roll(1, dims=1)
    transmittance[:, 0] = 1
    weights = alpha * transmittance
    return (weights * colour).sum(1), (weights * t).sum(1), weights.sum(1)


field = nn.Sequential(PositionalEncoding(2), nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(field.parameters(), lr=5e-3)
origins, directions = get_rays(6, torch.tensor([-1.5, 0.0]))
target = (torch.arange(6) % 2).float()
for step in range(4):
    colour, depth, opacity = render(field, origins, directions)
    loss = F.mse_loss(colour, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.5f}", f"depth {depth.mean().item():.3f} opacity {opacity.min().item():.3f}")
print(list(field.state_dict()))
