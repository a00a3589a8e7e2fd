# not_in_optimizer at 11: net.head, opt.add_param_group(dict(params=net.head.parameters()))
import torch
from torch import nn

net = nn.Sequential()
net.body, net.head = nn.Linear(3, 4), nn.Linear(4, 1)
groups = []
group = {"params": list(net.body.parameters()), "lr": 0.1}
groups.append(group)
group = {"params": list(net.head.parameters()), "lr": 0.2}
opt = torch.optim.SGD(groups)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for step in range(4):
    loss = (net.head(net.body(x).relu()) - y).pow(2).mean()
    net.zero_grad()
    loss.backward()
    opt.step()
