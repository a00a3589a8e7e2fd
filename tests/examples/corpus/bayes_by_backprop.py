"""A Bayesian neural network by the reparameterisation trick, and Monte-Carlo dropout."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)


class BayesLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(o, i) * 0.1)
        self.rho = nn.Parameter(torch.full((o, i), -3.0))

    def forward(self, x):
        posterior = Normal(self.mu, F.softplus(self.rho))
        self.kl = kl_divergence(posterior, Normal(0.0, 1.0)).sum()
        return F.linear(x, posterior.rsample())


net = nn.Sequential(BayesLinear(1, 8), nn.Tanh(), BayesLinear(8, 1))
x = torch.linspace(-1, 1, 12).unsqueeze(1)
y = x ** 3 + 0.05 * torch.randn_like(x)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(4):
    nll = F.mse_loss(net(x), y) * 10
    kl = sum(m.kl for m in net if isinstance(m, BayesLinear)) / 100
    opt.zero_grad()
    (nll + kl).backward()
    opt.step()
    print(step, f"{nll.item():.4f} {kl.item():.4f}")
with torch.no_grad():
    draws = torch.stack([net(x) for _ in range(5)])
print(draws.mean(0).shape, draws.std(0).mean() > 0)
mc = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1)).train()
with torch.no_grad():
    samples = torch.stack([mc(x) for _ in range(4)])
print(samples.var(0).sum() > 0)
