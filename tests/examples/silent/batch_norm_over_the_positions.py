# axes_confused at 10: hidden, 5
import torch
from torch import nn

torch.manual_seed(0)
layer, norm, out = nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)
x, y = torch.randn(4, 5, 3), torch.tensor([0, 1, 1, 0])
for k in range(2):
    hidden = layer(x)
    normal = norm(hidden)
    loss = nn.functional.cross_entropy(out(normal.relu().mean(1)), y)
    loss.backward()
