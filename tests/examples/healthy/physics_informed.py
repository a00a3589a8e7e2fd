import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    t = torch.linspace(0, 1, 5).reshape(-1, 1).requires_grad_()
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    ddu = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
    loss = (ddu + u).pow(2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
