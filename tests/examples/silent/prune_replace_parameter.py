# parameter_detached at 11: weight
import torch
from torch import nn
torch.manual_seed(0)
layer = nn.Linear(3, 2)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
for it in range(2):
    optimizer.zero_grad()
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    layer.weight = nn.Parameter(layer.weight * (layer.weight.abs() > 0.1))
print(layer.weight)
