# frozen_updated at 13: fc1
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("fc1", nn.Linear(2, 2))
model.add_module("fc2", nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.ones(1, 2)
for epoch in range(2):
    if epoch == 1:
        model.fc1.requires_grad_(False)
    optimizer.zero_grad(set_to_none=False)
    model(x).sum().backward()
    optimizer.step()
print(model.fc1.weight)
