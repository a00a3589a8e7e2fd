# eval_never_left at 14: net, net.eval()
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
samples = torch.randn(96, 6)
labels = (samples.sum(1) > 0).long()


def score(parts):
    net.eval()
    right = 0
    with torch.no_grad():
        for part, label in parts:
            right += (net(part).argmax(1) == label).sum().item()
    return right


def train_epoch():
    net.train()
    every = 4
    for k, (part, label) in enumerate(zip(samples.split(8), labels.split(8))):
        loss = F.cross_entropy(net(part), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (k + 1) % every == 0:
            print(k, loss.item(), score(zip(samples.split(24), labels.split(24))))


for epoch in range(12):
    train_epoch()
