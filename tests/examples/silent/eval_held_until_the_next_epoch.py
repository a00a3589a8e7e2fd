# eval_never_left at 12: net, net.eval()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
samples = torch.randn(72, 6)


def score(part):
    net.eval()
    with torch.no_grad():
        return (net(part) - part.sum(1, keepdim=True)).square().mean().item()


def train_epoch():
    net.train()
    every = 3
    for k, part in enumerate(samples.split(6)):
        optimizer.zero_grad()
        error = (net(part) - part.sum(1, keepdim=True)).square().mean()
        error.backward()
        optimizer.step()
        if (k + 1) % every == 0:
            print(k, error.item(), score(samples[:12]))


for epoch in range(6):
    train_epoch()
