# frozen_norm_moves at 11: encoder
import torch
from torch import nn
torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).requires_grad_(False)
probe = nn.Linear(4, 2)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.tensor([0, 1] * 4)
for epoch in range(3):
    with torch.no_grad():
        h = encoder(x)
    loss = nn.functional.cross_entropy(probe(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
