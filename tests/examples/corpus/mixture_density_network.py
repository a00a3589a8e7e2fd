"""A mixture density network for an inverse problem, and quantile regression beside it."""

import math

import torch
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal

torch.manual_seed(4)
y = torch.rand(64, 1)
x = y + 0.3 * torch.sin(2 * math.pi * y) + 0.05 * torch.randn(64, 1)


class MDN(nn.Module):
    def __init__(self, hidden=12, gaussians=3):
        super().__init__()
        self.z_h = nn.Sequential(nn.Linear(1, hidden), nn.Tanh())
        self.z_pi = nn.Linear(hidden, gaussians)
        self.z_mu = nn.Linear(hidden, gaussians)
        self.z_sigma = nn.Linear(hidden, gaussians)

    def forward(self, x):
        h = self.z_h(x)
        return torch.softmax(self.z_pi(h), -1), self.z_mu(h), torch.exp(self.z_sigma(h))


def mdn_loss(pi, mu, sigma, target):
    log_prob = -0.5 * ((target - mu) / sigma) ** 2 - sigma.log() - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_prob + pi.log(), dim=1).mean()


network = MDN()
optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
for epoch in range(12):
    pi, mu, sigma = network(x)
    loss = mdn_loss(pi, mu, sigma, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 4 == 0:
        print(epoch, f"{loss.item():.4f}")

with torch.no_grad():
    mixture = MixtureSameFamily(Categorical(pi), Normal(mu, sigma))
    print(torch.allclose(-mixture.log_prob(y.squeeze()).mean(), mdn_loss(pi, mu, sigma, y), atol=1e-5))
    pi, mu, sigma = network(torch.linspace(0, 1, 5).unsqueeze(1))
    k = Categorical(pi).sample().view(5, 1)
    sample = Normal(mu, sigma).sample().gather(1, k)
    print(k.flatten(), sample.flatten())

quantiles = torch.tensor([0.1, 0.5, 0.9])
net = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Rprop(net.parameters(), lr=0.01)
for step in range(6):
    error = y - net(x)
    loss = torch.maximum(quantiles * error, (quantiles - 1) * error).mean()
    net.zero_grad()
    loss.backward()
    optimizer.step()
print(f"pinball {loss.item():.4f}, covered {(y < net(x)).float().mean(0)}")
