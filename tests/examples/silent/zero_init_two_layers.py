# zero_gradient at 9: weight
import torch
from torch import nn
l1, l2 = nn.Linear(2, 3), nn.Linear(3, 1)
for l in (l1, l2):
    nn.init.zeros_(l.weight)
    nn.init.zeros_(l.bias)
x, y = torch.ones(4, 2), torch.ones(4, 1)
loss = ((l2(torch.relu(l1(x))) - y) ** 2).mean()
loss.backward()
print(l1.weight.grad)
