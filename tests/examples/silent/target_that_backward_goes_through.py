# not_in_optimizer at 10: target, kept.data.copy_, no_grad
import torch
from torch import nn

torch.manual_seed(0)
net, target = nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 3)
for step in range(3):
    loss = (net(x) - target(x)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for kept, new in zip(target.parameters(), net.parameters()):
        kept.data.copy_(0.9 * kept.data + 0.1 * new.data)
