# shared_memory at 8: x
import torch
from torch import nn

torch.manual_seed(0)

def standardise(x):
    x -= x.mean(0)
    return x / x.std(0)

net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    x = torch.randn(8, 4) + 5
    scaled = standardise(x)
    loss = nn.functional.mse_loss(net(scaled), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
