# parameter_detached at 11: model.fc.weight, optimizer
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential()
model.add_module("body", nn.Linear(2, 3))
model.add_module("fc", nn.Linear(3, 10))
for p in model.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.fc = nn.Linear(3, 2)
before = model.fc.weight.clone()
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 2)), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print((model.fc.weight - before).abs().max())
