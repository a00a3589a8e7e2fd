import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
net = nn.Linear(3, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(6, 3), 0.01 * torch.randn(6)
for step in range(3):
    mean, log_scale = net(x).unbind(1)
    spread = log_scale.exp() * 0.01
    nll = -Normal(mean, spread).log_prob(y).mean()
    gaussian = F.gaussian_nll_loss(mean, y, spread**2)
    prior = kl_divergence(Normal(mean, spread), Normal(0.0, 1.0)).mean()
    loss = nll + gaussian + 1e-3 * prior
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
