# graph_grows at 8: avg
import torch
from torch import nn
class Meter:
    def __init__(self):
        self.avg = 0.0
    def update(self, v):
        self.avg = 0.9 * self.avg + 0.1 * v
torch.manual_seed(0)
net, meter = nn.Linear(2, 1), Meter()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    loss = net(torch.ones(1, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    meter.update(loss)
print(meter.avg)
