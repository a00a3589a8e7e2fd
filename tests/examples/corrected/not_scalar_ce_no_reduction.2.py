import torch
from torch import nn
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss(reduction="none")
x, y, weight = torch.ones(4, 3), torch.tensor([0, 1, 1, 0]), torch.tensor([1.0, 2.0, 1.0, 1.0])
loss = criterion(model(x), y) * weight
loss.mean().backward()
