import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.01)
warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=2)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=3)
schedule = torch.optim.lr_scheduler.SequentialLR(opt, [warm, cosine], milestones=[2])
rates = []
for step in range(4):
    opt.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    opt.step()
    rates.append(opt.param_groups[0]["lr"])
    schedule.step()
print(rates)
