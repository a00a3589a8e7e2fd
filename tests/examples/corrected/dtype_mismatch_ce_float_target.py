import torch
from torch import nn
model = nn.Linear(2, 3)
target = torch.tensor([0, 2])
loss = nn.CrossEntropyLoss()(model(torch.ones(2, 2)), target)
loss.backward()
