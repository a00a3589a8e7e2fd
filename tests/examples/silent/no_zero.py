# grad_accumulated at 9: m.bias, m.weight
import torch
from torch import nn
m = nn.Linear(2, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for i in range(5):
    loss = (m(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss.item())
