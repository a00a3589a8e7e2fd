# result_unused at 11: optimizer, step()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step
print(net.weight)
