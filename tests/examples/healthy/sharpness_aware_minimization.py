import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for _ in range(3):
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        moves = [0.05 * p.grad / norm for p in model.parameters()]
        for p, move in zip(model.parameters(), moves):
            p.add_(move)
    optimizer.zero_grad()
    (model(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        for p, move in zip(model.parameters(), moves):
            p.sub_(move)
    optimizer.step()
    optimizer.zero_grad()
