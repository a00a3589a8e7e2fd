# result_unused at 11: grad
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = net(torch.randn(4, 2)).pow(2).mean()
    torch.autograd.grad(loss, net.parameters())
    optimizer.step()
