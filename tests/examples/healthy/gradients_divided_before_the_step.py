import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(torch.randn(6, 4, 3)):
    model(x).pow(2).mean().backward()
    if i % 3 == 2:
        for p in model.parameters():
            p.grad /= 3
        optimizer.step()
        optimizer.zero_grad()
