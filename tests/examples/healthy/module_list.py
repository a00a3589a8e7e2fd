import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.names = ["a", "b", "c"]
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x)) * self.scale
        return x


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(2, 3)).sum().backward()
optimizer.step()
