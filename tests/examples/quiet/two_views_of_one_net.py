import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    base = torch.randn(8, 4)
    a, b = net(base + 0.1 * torch.randn_like(base)), net(base + 0.1 * torch.randn_like(base))
    spread = F.relu(1 - (a.var(0) + 1e-4).sqrt()).mean() + F.relu(1 - (b.var(0) + 1e-4).sqrt()).mean()
    loss = F.mse_loss(a, b) + spread
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
