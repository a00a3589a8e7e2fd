# no_graph: gp grads
import torch
from torch import nn
torch.manual_seed(0)
D = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
opt = torch.optim.Adam(D.parameters(), lr=1e-3)
real, fake = torch.randn(3, 2), torch.randn(3, 2)
eps = torch.rand(3, 1)
inter = eps * real + (1 - eps) * fake
inter.requires_grad_(True)
score = D(inter)
grads = torch.autograd.grad(score.sum(), inter)[0]  # cause
gp = ((grads.norm(2, dim=1) - 1) ** 2).mean()
opt.zero_grad()
gp.backward()
opt.step()
