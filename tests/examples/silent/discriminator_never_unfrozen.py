# frozen_optimizer at 8: opt_d, d
import torch
from torch import nn
torch.manual_seed(0)
g, d = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g = torch.optim.Adam(g.parameters(), lr=0.01)
opt_d = torch.optim.Adam(d.parameters(), lr=0.01)
d.requires_grad_(False)
for _ in range(3):
    fake = g(torch.randn(4, 2))
    loss = nn.functional.softplus(-d(fake)).mean() + nn.functional.softplus(d(fake)).mean()
    opt_g.zero_grad(); opt_d.zero_grad()
    loss.backward()
    opt_g.step(); opt_d.step()
