import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 3)
for epoch in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

net.eval
with torch.no_grad():
    print(net(x)[0])
    print(net(x[:2])[0])
