# layer_repeated at 8: Linear
import torch
from torch import nn

class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)] * depth)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.out(x)


torch.manual_seed(0)
net = Deep(3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    net(torch.randn(5, 4)).pow(2).mean().backward()
    optimizer.step()
