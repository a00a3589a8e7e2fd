import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = torch.randn(5, 4, 3).unbind()
for epoch in range(3):
    optimizer.zero_grad()
    for k, x in enumerate(batches):
        rest = len(batches) % 2 if k >= len(batches) - len(batches) % 2 else 2
        (net(x).pow(2).mean() / rest).backward()
        if k % 2 == 1 or k == len(batches) - 1:
            optimizer.step()
            optimizer.zero_grad()
