# rate_jumps at 9: `opt`
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
epochs = 3
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
x, y = torch.randn(4, 8, 4), torch.randn(4, 8, 1)
for _ in range(epochs):
    for seen, wanted in zip(x, y):
        opt.zero_grad()
        nn.functional.mse_loss(net(seen), wanted).backward()
        opt.step()
        schedule.step()
