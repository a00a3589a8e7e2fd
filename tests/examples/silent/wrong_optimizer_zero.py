# grad_accumulated at 10: b.bias, b.weight
import torch
from torch import nn
a, b = nn.Linear(2, 2), nn.Linear(2, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
for i in range(3):
    opt_a.zero_grad()
    loss = b(a(torch.randn(4, 2))).pow(2).mean()
    loss.backward()
    opt_a.step()
    opt_b.step()
