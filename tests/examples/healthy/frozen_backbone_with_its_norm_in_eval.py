import torch
from torch import nn
torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten())
head = nn.Linear(3 * 16, 2)
backbone.requires_grad_(False)
backbone.eval()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(3):
    head.train()
    loss = nn.functional.cross_entropy(head(backbone(torch.randn(4, 1, 6, 6))), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
