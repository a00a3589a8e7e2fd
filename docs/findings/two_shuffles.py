# two_shuffles at 10: `x`, `y`
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
x = torch.randn(12, 3)
y = (x.sum(1) > 0).long()
shuffled_x = x[torch.randperm(12)]
shuffled_y = y[torch.randperm(12)]
loss = nn.functional.cross_entropy(net(shuffled_x), shuffled_y)
loss.backward()
