# parameter_detached at 8: scale, m
import torch
from torch import nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.scale = torch.ones(1, requires_grad=True)
    def forward(self, x):
        return self.lin(x) * self.scale
m = M()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m(torch.ones(1, 2)).sum().backward()
opt.step()
print(m.scale)
