import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6, 1)
running = 0.0
for step in range(4):
    total = torch.zeros(())
    fit = (net(x) - y).pow(2).mean()
    decay = net.weight.pow(2).sum()
    total = total + fit + 1e-3 * decay
    total += 0.1
    scale = 1 / (1 + fit.item())
    loss = total * scale
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.9 * running + 0.1 * loss.item()
    logged = loss.detach() + running
    print(step, logged.item())
