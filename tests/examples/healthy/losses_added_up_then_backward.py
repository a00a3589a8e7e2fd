import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
tasks = [(torch.randn(n, 3), torch.randn(n, 1)) for n in (4, 6, 2)]
for epoch in range(4):
    loss = torch.zeros(())
    for x, y in tasks:
        loss = loss + nn.functional.mse_loss(net(x), y)
    loss = loss / len(tasks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
