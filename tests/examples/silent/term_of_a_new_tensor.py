# term_moves_nothing at 11: loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.randn(10, 1)
for step in range(3):
    fit = (net(x) - y).pow(2).mean()
    sparsity = torch.tensor([p.abs().sum() for p in net.parameters()]).sum()
    loss = fit + 0.01 * sparsity
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
