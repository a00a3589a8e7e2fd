# layers_start_equal at 6: `first.weight`, `second.weight`
import copy, torch
from torch import nn

first = nn.Linear(3, 2)
second = copy.deepcopy(first)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(4, 3)
    loss = (first(x).pow(2) + (second(x) - 1).pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
