# backward_twice: fake
import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
opt_d = torch.optim.Adam(D.parameters())
opt_g = torch.optim.Adam(G.parameters())
bce = nn.BCELoss()
real = torch.randn(4, 3)
fake = torch.tanh(G(torch.randn(4, 2)))
d_real = D(real)
d_fake = D(fake)  # cause
loss_d = bce(d_real, torch.ones(4, 1)) + bce(d_fake, torch.zeros(4, 1))
opt_d.zero_grad()
loss_d.backward()  # cause
opt_d.step()
loss_g = bce(D(fake), torch.ones(4, 1))
opt_g.zero_grad()
loss_g.backward()
opt_g.step()
