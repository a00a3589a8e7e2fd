# samples_mixed at 9: batch_first
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 3)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(5 * 3, 2))

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out)


torch.manual_seed(0)
net = Net()
x, y = torch.randn(7, 5, 4), torch.randint(0, 2, (7,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
