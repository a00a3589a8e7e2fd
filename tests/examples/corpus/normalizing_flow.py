"""A normalizing flow of affine coupling layers: inverse, log determinant, maximum likelihood."""
import torch
from torch import nn


class AffineCoupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        out = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return out, s.sum(1)

    def inverse(self, y):
        a, b = y.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        b = (b - t) * (-torch.tanh(s)).exp()
        return torch.cat([b, a] if self.flip else [a, b], dim=1)


torch.manual_seed(0)
flow = nn.ModuleList([AffineCoupling(k % 2 == 1) for k in range(3)])
prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
x = torch.randn(40, 2) @ torch.tensor([[1.0, 0.8], [0.0, 0.3]]) + 1
opt = torch.optim.Adam(flow.parameters(), lr=0.05)
for step in range(4):
    z, logdet = x, torch.zeros(len(x))
    for layer in flow:
        z, ld = layer(z)
        logdet = logdet + ld
    loss = -(prior.log_prob(z) + logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.4f}")
with torch.no_grad():
    z = x
    for layer in flow:
        z, _ = layer(z)
    back = z
    for layer in reversed(flow):
        back = layer.inverse(back)
    print(torch.allclose(back, x, atol=1e-4))
