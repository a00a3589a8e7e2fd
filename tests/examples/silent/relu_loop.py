# zero_gradient at 10: net.0.bias, net.0.weight
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
with torch.no_grad():
    net[0].bias.fill_(-100.)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    loss = (net(torch.randn(4, 2)) - 1).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss.item())
