"""Mixed samples of one order, negatives of another; an output layer that starts at zero; a scheduler in an object."""

import torch
from torch import nn

torch.manual_seed(0)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.opt, step_size=50)

    def step(self, loss):
        self.opt.zero_grad()
        loss.backward()
        for each in (self.opt, self.schedule):
            each.step()


net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
nn.init.zeros_(net[2].weight)
trainer = Trainer(net)
x = torch.randn(12, 3)
y = (x.sum(1) > 0).long()
for _ in range(4):
    order = torch.randperm(12)
    seen, wanted = x[order], y[order]
    mixing = torch.randperm(12)
    scores = net(0.7 * seen + 0.3 * seen[mixing])
    loss = 0.7 * nn.functional.cross_entropy(scores, wanted) + 0.3 * nn.functional.cross_entropy(scores, wanted[mixing])
    others = torch.randperm(12)
    margin = torch.relu(0.1 - (net(seen) - net(x[others])).pow(2).sum(1)).mean()
    trainer.step(loss + 0.01 * margin)
