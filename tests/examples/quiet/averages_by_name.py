import copy
import torch
from torch import nn


def accumulate(average, current, decay=0.9):
    ours, theirs = dict(average.named_parameters()), dict(current.named_parameters())
    for name in ours:
        ours[name].data.mul_(decay).add_(theirs[name].data, alpha=1 - decay)


torch.manual_seed(0)
net = nn.Linear(3, 1)
average = copy.deepcopy(net).eval()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = (net(torch.randn(4, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    accumulate(average, net)
print(average.weight)
