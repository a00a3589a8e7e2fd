# parameter_detached at 8: experts
import torch
from torch import nn
class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2, 2)
        self.experts = {"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)}
    def forward(self, x):
        g = torch.softmax(self.gate(x), -1)
        return g[:, :1] * self.experts["a"](x) + g[:, 1:] * self.experts["b"](x)
net = Mixture()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(3, 2)).sum().backward()
opt.step()
