"""RealNVP: affine coupling layers on two moons, made by hand."""

import math

import torch
from torch import nn
from torch.distributions import MultivariateNormal

torch.manual_seed(1)


def two_moons(n, noise=0.05):
    t = torch.rand(n // 2) * math.pi
    outer = torch.stack([torch.cos(t), torch.sin(t)], dim=1)
    inner = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], dim=1)
    return torch.cat([outer, inner]) + noise * torch.randn(n // 2 * 2, 2)


class Coupling(nn.Module):
    def __init__(self, mask, hidden=16):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2))

    def forward(self, z):
        kept = z * self.mask
        s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (z * s.exp() + t), s.sum(dim=1)

    def inverse(self, x):
        kept = x * self.mask
        s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x - t) * torch.exp(-s), -s.sum(dim=1)


class RealNVP(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).repeat(layers // 2, 1)
        self.layers = nn.ModuleList(Coupling(mask) for mask in masks)
        self.prior = MultivariateNormal(torch.zeros(2), torch.eye(2))

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, change = layer.inverse(x)
            log_det += change
        return self.prior.log_prob(x) + log_det

    def sample(self, n):
        z = self.prior.sample((n,))
        for layer in self.layers:
            z, _ = layer(z)
        return z


flow = RealNVP()
optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=5e-3)
for step in range(15):
    optimizer.zero_grad()
    loss = -flow.log_prob(two_moons(64)).mean()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"{step:3d} nll {loss.item():.4f}")

with torch.no_grad():
    samples = flow.sample(100)
    print("mean", samples.mean(0), "std", samples.std(0))
    z = torch.randn(5, 2)
    x, forward_det = flow.layers[0](z)
    back, inverse_det = flow.layers[0].inverse(x)
    print(torch.allclose(z, back, atol=1e-5), torch.allclose(forward_det, -inverse_det))

# the log determinant of one layer, against its Jacobian
point = torch.randn(2)
jacobian = torch.autograd.functional.jacobian(lambda v: flow.layers[1](v[None])[0][0], point)
print(torch.allclose(jacobian.det().abs().log(), flow.layers[1](point[None])[1][0], atol=1e-5))
