"""Rows that an update by signs keeps equal for a while, a scheduler that another object steps, steps in two modes."""

import torch
from torch import nn

torch.manual_seed(0)


class SignDescent(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.scale = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Parameter(torch.ones(4, 2))

    def forward(self, x):
        return (self.norm(self.layer(x))[..., None] ** 2 * self.scale).sum()


class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, SignDescent(net.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.opt, step_size=30)


trainer = Trainer(Net())
for turn in range(4):
    trainer.net.train(turn % 2 == 0)
    trainer.opt.zero_grad()
    trainer.net(torch.randn(5, 3)).backward()
    trainer.opt.step()
    trainer.scheduler.step()
