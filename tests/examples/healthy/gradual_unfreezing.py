import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
net[0].requires_grad_(False)
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for epoch in range(3):
    if epoch == 1:
        net[0].requires_grad_(True)
        opt.add_param_group({"params": net[0].parameters(), "lr": 0.01})
    opt.zero_grad()
    net(torch.ones(2, 2)).pow(2).mean().backward()
    opt.step()
