# scheduler_first at 9: optimizer
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
x = torch.randn(16, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
    scheduler.step()
