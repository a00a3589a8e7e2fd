import torch
from torch import nn


class Recurrent(nn.Module):
    """One block at every depth, as in a universal transformer."""

    def __init__(self, depth):
        super().__init__()
        self.block = nn.Linear(4, 4)
        self.depth = depth
        self.activations = nn.ModuleList([nn.ReLU()] * depth)

    def forward(self, x):
        for activation in self.activations:
            x = x + activation(self.block(x))
        return x


torch.manual_seed(0)
net = Recurrent(3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    net(torch.randn(5, 4)).pow(2).mean().backward()
    optimizer.step()
