# shared_memory at 8: best
import torch
from torch import nn
class EarlyStop:
    def __init__(self):
        self.best = None
    def save(self, model):
        self.best = model.state_dict()
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
stop = EarlyStop()
stop.save(net)
net(torch.ones(1, 2)).sum().backward()
opt.step()
net.load_state_dict(stop.best)
