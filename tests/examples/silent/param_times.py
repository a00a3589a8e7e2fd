# parameter_detached at 8: w, m
import torch
from torch import nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(1))
        self.w = nn.Parameter(torch.randn(2)) * 0.01
    def forward(self, x):
        return (x * self.w).sum() + self.b
m = M()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m(torch.ones(2)).backward()
opt.step()
print(list(m.parameters()))
