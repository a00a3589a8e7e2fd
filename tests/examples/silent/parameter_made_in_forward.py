# parameter_detached at 12: self.scale
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.scale = nn.Parameter(self.scale.abs())
        return self.lin(x) * self.scale

net = Scaled()
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
print(net.scale)
