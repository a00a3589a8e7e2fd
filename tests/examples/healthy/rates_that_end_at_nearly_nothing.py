import torch
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(0)
x = torch.randn(32, 3)
for make in (
    lambda opt: lr_scheduler.CosineAnnealingLR(opt, T_max=16),
    lambda opt: lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=16),
    lambda opt: lr_scheduler.ExponentialLR(opt, gamma=0.7),
    lambda opt: lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 8)),
):
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = make(optimizer)
    for epoch in range(4):
        for k in range(0, 16, 4):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x[k : k + 4]), x[k : k + 4, :1])
            loss.backward()
            optimizer.step()
            scheduler.step()
    print(loss.item(), scheduler.get_last_lr())
