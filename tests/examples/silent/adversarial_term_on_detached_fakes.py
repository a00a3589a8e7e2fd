# term_moves_nothing at 24: adversarial, for_g
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 3))
d = nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1))
for_g = torch.optim.Adam(g.parameters(), lr=0.01)
for_d = torch.optim.Adam(d.parameters(), lr=0.01)
x, real = torch.randn(8, 3), torch.randn(8, 3) + 2

for step in range(3):
    fake = g(x)
    d_loss = F.mse_loss(d(real), torch.ones(8, 1)) + F.mse_loss(d(fake.detach()), torch.zeros(8, 1))
    for_d.zero_grad()
    d_loss.backward()
    for_d.step()

    for_g.zero_grad()
    closeness = F.l1_loss(fake, real)

    # the same line as above, copied
    judged = d(fake.detach())
    adversarial = F.mse_loss(judged, torch.ones(8, 1))
    loss = closeness + 0.1 * adversarial
    loss.backward()
    for_g.step()
