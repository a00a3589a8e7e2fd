# parameter_detached at 7: net
import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.Adam(copy.deepcopy(net).parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(3, 2)).pow(2).mean().backward()
    opt.step()
print(net.weight)
