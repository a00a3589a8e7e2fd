import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
torch.manual_seed(0)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
optimizer = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
x = torch.randn(16, 6)
for step in range(4):
    mu, scale = enc(x).chunk(2, dim=1)
    q = Normal(mu, nn.functional.softplus(scale) + 1e-3)
    loss = nn.functional.mse_loss(dec(q.rsample()), x) + 0.01 * kl_divergence(q, Normal(0.0, 1.0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 2:
        optimizer.param_groups[0]["lr"] = 0.001
