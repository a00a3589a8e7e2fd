import torch
from torch import nn
torch.manual_seed(0)
online, slow = nn.Linear(2, 2), nn.Linear(2, 2)
slow.load_state_dict(online.state_dict())
for p in slow.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(online.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 2)
    loss = (online(x) - slow(x)).pow(2).mean() + online(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for s, o in zip(slow.parameters(), online.parameters()):
            s.lerp_(o, 0.05)
