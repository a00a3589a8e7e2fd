import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.zero_grad()
for i, x in enumerate(torch.randn(4, 3, 2)):
    loss = net(x).pow(2).mean() / 2
    loss.backward()
    if (i + 1) % 2 == 0:
        opt.step()
        opt.zero_grad()
