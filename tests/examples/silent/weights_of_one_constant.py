# layers_start_equal at 8: `net.0.weight`
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
for layer in (net[0], net[2]):
    nn.init.constant_(layer.weight, 0.1)
    nn.init.zeros_(layer.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(4):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
