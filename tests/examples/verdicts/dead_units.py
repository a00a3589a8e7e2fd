import torch
from torch import nn

layer = nn.Linear(2, 3)
with torch.no_grad():
    layer.weight.fill_(0.5)
    layer.bias.fill_(-100.0)
x = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
loss = layer(x).relu().sum()
loss.backward()
print(layer.weight.grad)
