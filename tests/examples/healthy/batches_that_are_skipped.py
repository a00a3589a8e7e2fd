import math
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(8):
    x = torch.randn(4, 3)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    if i in (1, 4):
        continue
    optimizer.step()
