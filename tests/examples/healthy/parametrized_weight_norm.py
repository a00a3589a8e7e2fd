import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
torch.manual_seed(0)
net = nn.Sequential(weight_norm(nn.Linear(2, 3)), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(2, 2)).pow(2).mean().backward()
    opt.step()
