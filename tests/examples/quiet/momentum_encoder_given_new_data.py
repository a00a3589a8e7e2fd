import copy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
query = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
key = copy.deepcopy(query)
for parameter in key.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(query.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(6, 4)
    q = F.normalize(query(x), dim=1)
    with torch.no_grad():
        for p, k in zip(query.parameters(), key.parameters()):
            k.data = 0.9 * k.data + 0.1 * p.data
        targets = F.normalize(key(x + 0.1 * torch.randn_like(x)), dim=1)
    loss = F.cross_entropy(q @ targets.t() / 0.2, torch.arange(6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
