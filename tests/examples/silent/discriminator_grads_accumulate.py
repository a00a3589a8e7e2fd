# grad_accumulated at 16: D
import torch
from torch import nn
torch.manual_seed(0)
G = nn.Linear(2, 2)
D = nn.Linear(2, 1)
opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
for step in range(2):
    z = torch.randn(4, 2)
    d_loss = (D(torch.ones(4, 2)) - 1).pow(2).mean() + D(G(z).detach()).pow(2).mean()
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss = (D(G(z)) - 1).pow(2).mean()
    g_loss.backward()
    opt_g.step()
