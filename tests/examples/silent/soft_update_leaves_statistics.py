# statistics_never_fed at 27: target
import copy, torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU())
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        return self.out(self.body(x))


def soft_update(net, target, tau):
    for p, t in zip(net.parameters(), target.parameters()):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)


critic, target = Critic(), Critic()
soft_update(critic, target, 1.0)
target.eval()
opt = torch.optim.Adam(critic.parameters(), lr=0.1)
for b in torch.rand(4, 4, 2):
    with torch.no_grad():
        y = 0.9 * target(b) + 1
    loss = (critic(b) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    soft_update(critic, target, 0.1)
