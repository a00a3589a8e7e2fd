import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, step_size_up=2)
x, y = torch.randn(8, 4), torch.arange(8) % 3
for step in range(5):
    lam = torch.distributions.Beta(0.4, 0.4).sample()
    order = torch.randperm(8)
    scores = net(lam * x + (1 - lam) * x[order])
    loss = lam * F.cross_entropy(scores, y) + (1 - lam) * F.cross_entropy(scores, y[order])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
