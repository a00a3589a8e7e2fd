# shared_memory at 5: before[0], m.weight
import torch
from torch import nn
m = nn.Linear(1, 1)
before = [p.data for p in m.parameters()]
opt = torch.optim.SGD(m.parameters(), lr=1.)
m(torch.ones(1, 1)).sum().backward()
opt.step()
print(before[0] == m.weight)
