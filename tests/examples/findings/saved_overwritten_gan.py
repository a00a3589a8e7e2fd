# saved_overwritten: disc
import torch
from torch import nn
torch.manual_seed(0)
gen, disc = nn.Linear(2, 2), nn.Linear(2, 1)
opt_g = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_d = torch.optim.SGD(disc.parameters(), lr=0.1)
fake = gen(torch.randn(4, 2))
g_loss = -disc(fake).mean()
d_loss = disc(fake.detach()).mean() - disc(torch.randn(4, 2)).mean()
opt_d.zero_grad()
d_loss.backward()
opt_d.step()  # cause
opt_g.zero_grad()
g_loss.backward()
opt_g.step()
