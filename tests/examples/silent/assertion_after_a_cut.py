# grad_none at 12: net.a
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = torch.relu(self.a(x)).detach()
        return self.b(h)


def check(net):
    before = net.a.weight.detach().clone()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = net(torch.ones(16, 4)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    assert not torch.equal(before, net.a.weight)


check(Net())
