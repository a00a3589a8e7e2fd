import torch
from torch import nn

layer = nn.Linear(2, 1, bias=False)
nn.init.ones_(layer.weight)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
weight = layer.weight

layer.double()
layer(torch.ones(2, dtype=torch.float64)).backward()
optimizer.step()
print(layer.weight)
trained = layer.weight is weight and weight.tolist() == [[0.5, 0.5]]
