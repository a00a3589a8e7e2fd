import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
blocks = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(2)])
head = nn.Linear(3, 1)
opt = torch.optim.SGD([*blocks.parameters(), *head.parameters()], lr=0.1)
for _ in range(2):
    h = torch.randn(4, 3)
    for block in blocks:
        h = checkpoint(block, h, use_reentrant=False)
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
