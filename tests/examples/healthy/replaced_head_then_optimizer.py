import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 10))
net[2] = nn.Linear(4, 2)
opt = torch.optim.AdamW([{"params": net[0].parameters(), "lr": 1e-4}, {"params": net[2].parameters()}], lr=1e-2)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).mean().backward()
    opt.step()
