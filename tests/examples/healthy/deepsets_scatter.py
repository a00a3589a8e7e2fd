import torch
from torch import nn

torch.manual_seed(0)

phi, rho = nn.Linear(2, 4), nn.Linear(4, 1)
points, group = torch.randn(6, 2), torch.tensor([0, 0, 1, 1, 1, 2])
pooled = torch.zeros(3, 4).index_add(0, group, phi(points))
rho(pooled.relu()).sum().backward()
print(phi.weight.grad.shape)
