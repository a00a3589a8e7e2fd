import torch
import torch.nn as nn

torch.manual_seed(0)
encode = nn.Linear(3, 4)
decode = nn.Linear(2, 3)
x = torch.rand(2, 3)
mu, logvar = encode(x).chunk(2, dim=1)
eps = torch.randn_like(mu)
z = mu + eps * torch.exp(0.5 * logvar)
recon = torch.sigmoid(decode(z))
bce = nn.functional.binary_cross_entropy(recon, x, reduction="sum")
kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
loss = bce + kld
loss.backward()
