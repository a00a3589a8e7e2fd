# parameter_detached at 8: branches, m
import torch
from torch import nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1)
        self.branches = {"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)}
    def forward(self, x):
        return self.head(self.branches["a"](x) + self.branches["b"](x))
m = M()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m(torch.ones(1, 2)).sum().backward()
opt.step()
