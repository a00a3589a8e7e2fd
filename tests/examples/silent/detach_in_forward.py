# grad_none at 10: net.enc.weight, h
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.dec = nn.Linear(4, 1)
    def forward(self, x):
        h = self.enc(x).detach()
        return self.dec(h)
net = Net()
net(torch.randn(2, 3)).sum().backward()
print(net.enc.weight.grad)
print(net.dec.weight.grad is None)
