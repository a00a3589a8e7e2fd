import torch
from torch import nn

torch.manual_seed(0)
score, value = nn.Linear(4, 1), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*score.parameters(), *value.parameters()], lr=0.1)
bag, label = torch.randn(5, 4), torch.tensor([2])
transition = torch.randn(3, 3, requires_grad=True)
for step in range(3):
    weights = torch.softmax(score(bag), dim=0)
    pooled = (weights * value(bag)).sum(0, keepdim=True)
    moved = pooled @ torch.softmax(transition, dim=0).t()
    loss = nn.functional.cross_entropy(moved, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
