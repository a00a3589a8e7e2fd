# parameter_detached at 8: scale
import torch
from torch import nn
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.scale = torch.ones(2, requires_grad=True)
    def forward(self, x):
        return self.fc(x) * self.scale
torch.manual_seed(0)
net = Scaled()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
print(net.scale)
