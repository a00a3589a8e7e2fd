# linear_twice at 11: `net.0`, `net.1`
import torch
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for _ in range(4):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
