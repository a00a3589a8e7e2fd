# wrong_gradient at 6: l2.weight
import torch
from torch import nn
l1, l2 = nn.Linear(2, 3), nn.Linear(3, 1)
out = l2(l1(torch.ones(1, 2)))
l2.weight.data.mul_(0)
out.sum().backward()
print(l1.weight.grad)
