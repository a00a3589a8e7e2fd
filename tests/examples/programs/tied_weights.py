# Two layers share one parameter; its gradient is the sum.
import torch
from torch import nn
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
net = Tied()
nn.init.eye_(net.a.weight)
net.b(net.a(torch.ones(2))).sum().backward()
print(net.b.weight.grad, len(list(net.parameters())))
