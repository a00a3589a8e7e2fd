# backward_twice: mu
import torch
from torch import nn
enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)
x = torch.ones(2, 3)
mu = enc(x)
recon = dec(mu)
rec_loss = (recon - x).pow(2).mean()
kl_loss = mu.pow(2).mean()
rec_loss.backward()  # cause
kl_loss.backward()
