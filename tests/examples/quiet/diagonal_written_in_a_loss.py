import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3), nn.BatchNorm1d(3, affine=False))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 5)
    c = net(x + 0.1 * torch.randn_like(x)).T @ net(x + 0.1 * torch.randn_like(x)) / 8
    on = torch.diagonal(c).add_(-1).pow_(2).sum()
    off = c.flatten()[:-1].view(2, 4)[:, 1:].pow(2).sum()
    loss = on + 0.1 * off
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
