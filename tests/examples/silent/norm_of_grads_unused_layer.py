# grad_none at 12: aux
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Linear(2, 1)
        self.aux = nn.Linear(2, 1)
    def forward(self, x):
        y = self.main(x)
        with torch.no_grad():
            z = self.aux(x)
        return y + z
net = Net()
net(torch.ones(1, 2)).sum().backward()
for name, p in net.named_parameters():
    print(name, p.grad)
