# scheduler_first at 14: opt
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
x = torch.randn(32, 3)
for epoch in range(4):
    for k in range(0, 32, 4):
        opt.zero_grad()
        nn.functional.mse_loss(net(x[k : k + 4]), x[k : k + 4, :1]).backward()
        opt.step()
        decay.step()
    print(epoch, decay.get_last_lr())
