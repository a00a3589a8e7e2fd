import torch
from torch import nn
torch.manual_seed(0)
class Warmup(torch.optim.SGD):
    def __init__(self, params, lr):
        super().__init__(params, lr=lr)
        self.lr = lr
net = nn.Linear(3, 1)
optimizer = Warmup(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(6):
    optimizer.lr = 0.1 * min(1.0, (step + 1) / 3)
    for group in optimizer.param_groups:
        group["lr"] = optimizer.lr
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    assert loss.item() == loss.item()
