# same_module at 12: self.best, self.net
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net, self.best, self.lowest = net, None, float("inf")

    def keep(self, loss):
        if loss < self.lowest:
            self.best = self.net
            self.lowest = loss


torch.manual_seed(0)
trainer = Trainer(nn.Linear(2, 1))
optimizer = torch.optim.SGD(trainer.net.parameters(), lr=0.4)
x, y = torch.randn(5, 2), torch.randn(5, 1)
for step in range(4):
    loss = (trainer.net(x) - y).pow(2).mean()
    trainer.keep(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(trainer.best(x))
