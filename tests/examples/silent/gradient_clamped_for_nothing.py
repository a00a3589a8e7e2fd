# result_unused at 11: p.grad, clamp
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    net(torch.ones(4, 2) * 100).sum().backward()
    for p in net.parameters():
        p.grad.data.clamp(-1, 1)
    optimizer.step()
    optimizer.zero_grad()
