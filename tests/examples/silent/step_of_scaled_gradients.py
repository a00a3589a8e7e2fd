# clip_while_scaled at 12: scaler, opt.step()
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.001)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(3):
    loss = (net(torch.randn(4, 3)) - 1).pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    opt.step()
