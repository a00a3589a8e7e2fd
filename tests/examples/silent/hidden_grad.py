# grad_none at 5: hidden
import torch
from torch import nn
l1, l2 = nn.Linear(2, 3), nn.Linear(3, 1)
hidden = torch.relu(l1(torch.ones(1, 2)))
out = l2(hidden)
out.backward()
print(l1.weight.grad)
print(hidden.grad)
