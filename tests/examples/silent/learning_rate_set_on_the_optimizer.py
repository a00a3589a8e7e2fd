# module_flag at 10: optimizer, lr
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 6), torch.randn(16, 1)
for epoch in range(6):
    if epoch == 3:
        optimizer.lr = 0.001
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
