# parameter_detached at 12: m.w, opt
import torch
from torch import nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
    def forward(self, x):
        return (self.w * x).sum()
m = M()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m.w = nn.Parameter(torch.zeros(2))
m(torch.ones(2)).backward()
opt.step()
print(m.w)
