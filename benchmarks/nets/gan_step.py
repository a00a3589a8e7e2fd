import torch
import torch.nn as nn

torch.manual_seed(0)
G = nn.Linear(2, 2)
D = nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(0.2), nn.Linear(3, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=0.01)
opt_d = torch.optim.Adam(D.parameters(), lr=0.01)
bce = nn.BCEWithLogitsLoss()
real = torch.randn(3, 2) + 2
noise = torch.randn(3, 2)
fake = G(noise)
d_loss = bce(D(real), torch.ones(3, 1)) + bce(D(fake.detach()), torch.zeros(3, 1))
opt_d.zero_grad()
d_loss.backward()
opt_d.step()
g_loss = bce(D(fake), torch.ones(3, 1))
opt_g.zero_grad()
g_loss.backward()
opt_g.step()
