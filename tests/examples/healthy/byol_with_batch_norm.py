import copy
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
target = copy.deepcopy(online).requires_grad_(False)
predictor = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 4))
optimizer = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=0.01)
for _ in range(4):
    x = torch.randn(8, 4)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    p = predictor(online(a))
    with torch.no_grad():
        z = target(b)
    loss = 2 - 2 * F.cosine_similarity(p, z).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for t, o in zip(target.parameters(), online.parameters()):
            t.mul_(0.99).add_(o, alpha=0.01)
