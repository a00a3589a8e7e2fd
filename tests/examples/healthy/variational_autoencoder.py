import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(4, 4), nn.Linear(2, 4)
optimizer = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(2):
    x = torch.rand(6, 4)
    mu, logvar = enc(x).chunk(2, 1)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
    loss = nn.functional.binary_cross_entropy_with_logits(dec(z), x) + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
