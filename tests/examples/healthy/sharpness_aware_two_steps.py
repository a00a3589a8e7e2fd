import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 3), torch.randn(10, 1)
for step in range(3):
    nn.functional.mse_loss(net(x), y).backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        moves = [0.05 * p.grad / norm for p in net.parameters()]
        for p, move in zip(net.parameters(), moves):
            p.add_(move)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p, move in zip(net.parameters(), moves):
            p.sub_(move)
    optimizer.step()
    optimizer.zero_grad()
