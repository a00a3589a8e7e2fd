# graph_grows at 8: self.total
import torch
from torch import nn
class Meter:
    def __init__(self):
        self.total = 0.
    def add(self, v):
        self.total += v
m = nn.Linear(2, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
meter = Meter()
for i in range(6):
    loss = m(torch.randn(4, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    meter.add(loss)
print(meter.total)
