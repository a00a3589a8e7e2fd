import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Sequential(nn.Linear(3, 8), nn.ReLU()), nn.Linear(8, 2)
for p in backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(2):
    with torch.no_grad():
        features = backbone(torch.randn(6, 3))
    loss = head(features).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
