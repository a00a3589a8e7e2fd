import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
train = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
held_out = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
for epoch in range(3):
    for x, y in train:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = 0.0
    for x, y in held_out:
        loss = nn.functional.mse_loss(net(x), y)
        total += loss.item()
    print(epoch, total / len(held_out))
