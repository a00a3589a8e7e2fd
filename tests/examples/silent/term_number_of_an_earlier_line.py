# term_moves_nothing at 12: loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randn(8, 2)
for step in range(3):
    out = net(x)
    fit = (out - y).pow(2).mean()
    spread = float(out.var(0).sum())
    loss = fit - 0.1 * spread
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
