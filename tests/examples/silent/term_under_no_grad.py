# term_moves_nothing at 12: decay, loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.randn(10, 1)
for step in range(3):
    fit = (net(x) - y).pow(2).mean()
    with torch.no_grad():
        decay = net.weight.pow(2).sum()
    loss = fit + 0.1 * decay
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
