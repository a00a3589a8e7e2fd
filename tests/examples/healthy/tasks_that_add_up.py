import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    for task in range(2):
        loss = (model(torch.randn(4, 3))[:, task] - task).pow(2).mean()
        loss.backward()
    optimizer.step()
