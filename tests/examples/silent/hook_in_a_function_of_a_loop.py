# hooks_pile_up at 10: `net.0`
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
seen = []


def look(x):
    net[0].register_forward_hook(lambda m, i, o: seen.append(o.mean().item()))
    kept = [net(x).item(), len(seen)]
    return kept


for _ in range(4):
    print(look(torch.ones(1, 2)))
