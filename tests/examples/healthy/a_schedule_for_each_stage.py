import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.randn(24, 3)
for stage, rate in enumerate((0.1, 0.01)):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    for epoch in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), x[:, :1])
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(stage, loss.item())
