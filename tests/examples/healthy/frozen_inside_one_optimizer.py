import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
for p in model[0].parameters():
    p.requires_grad_(False)
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=0.01)
for _ in range(2):
    loss = model(torch.randn(6, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
