# view_swaps_axes at 14: reshape
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 5, num_layers=2, batch_first=True)
        self.out = nn.Linear(10, 2)

    def forward(self, x):
        _, last = self.gru(x)
        return self.out(last.reshape(x.size(0), 10))


torch.manual_seed(0)
net = Reader()
x, y = torch.randn(6, 4, 3), torch.randint(0, 2, (6,))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
