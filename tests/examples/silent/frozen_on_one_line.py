# frozen_updated at 10: layer.weight
import torch
from torch import nn

torch.manual_seed(0)
layer, head = nn.Linear(2, 2), nn.Linear(2, 1)
optimizer = torch.optim.AdamW([*layer.parameters(), *head.parameters()], lr=0.1)
head(layer(torch.ones(1, 2))).sum().backward()
optimizer.step()
for p in layer.parameters(): p.requires_grad = False
head.zero_grad()
head(layer(torch.ones(1, 2))).sum().backward()
optimizer.step()
print(layer.weight)
