import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(4, 2)).pow(2).mean().backward()
    norms = {name: p.grad.norm().item() for name, p in net.named_parameters() if p.grad is not None}
    opt.step()
    print(norms)
