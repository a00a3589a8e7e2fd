"""A hypernetwork that makes another network's weights; FiLM conditioning."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class HyperNetwork(nn.Module):
    def __init__(self, z=3, i=2, h=4, o=1):
        super().__init__()
        self.sizes = [(h, i), (h,), (o, h), (o,)]
        total = sum(torch.Size(s).numel() for s in self.sizes)
        self.net = nn.Sequential(nn.Linear(z, 8), nn.ReLU(), nn.Linear(8, total))

    def forward(self, z, x):
        flat, parts = self.net(z), []
        for size in self.sizes:
            n = torch.Size(size).numel()
            parts.append(flat[:n].view(size))
            flat = flat[n:]
        w1, b1, w2, b2 = parts
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


hyper = HyperNetwork()
z = nn.Parameter(torch.randn(3))
x, y = torch.randn(6, 2), torch.randn(6, 1)
opt = torch.optim.Adam([*hyper.parameters(), z], lr=0.02)
for step in range(3):
    loss = F.mse_loss(hyper(z, x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}", z.grad.norm() > 0)


class FiLM(nn.Module):
    def __init__(self, cond, channels):
        super().__init__()
        self.to_gamma_beta = nn.Linear(cond, 2 * channels)

    def forward(self, x, c):
        gamma, beta = self.to_gamma_beta(c)[:, :, None, None].chunk(2, dim=1)
        return gamma * x + beta


film = FiLM(5, 3)
img = torch.randn(2, 3, 4, 4)
out = film(img, torch.randn(2, 5))
out.mean().backward()
print(out.shape, film.to_gamma_beta.weight.grad.shape)
