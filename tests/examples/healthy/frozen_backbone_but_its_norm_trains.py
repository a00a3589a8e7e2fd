import torch
from torch import nn
torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
head = nn.Linear(4, 2)
for module in backbone.modules():
    if not isinstance(module, nn.BatchNorm1d):
        for p in module.parameters(recurse=False):
            p.requires_grad_(False)
trained = [p for p in [*backbone.parameters(), *head.parameters()] if p.requires_grad]
optimizer = torch.optim.Adam(trained, lr=0.01)
for _ in range(3):
    loss = nn.functional.cross_entropy(head(backbone(torch.randn(6, 3))), torch.tensor([0, 1, 0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
