# term_moves_nothing at 9: sample, rsample
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
torch.manual_seed(0)
encode, decode = nn.Linear(6, 4), nn.Linear(2, 6)
def elbo(x):
    mean, log_var = encode(x).chunk(2, dim=1)
    code = Normal(mean, (0.5 * log_var).exp()).sample()
    kl = kl_divergence(Normal(mean, (0.5 * log_var).exp()), Normal(0.0, 1.0)).mean()
    return (decode(code) - x).pow(2).mean() + kl
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=0.01)
x = torch.randn(10, 6)
for _ in range(3):
    optimizer.zero_grad()
    elbo(x).backward()
    optimizer.step()
