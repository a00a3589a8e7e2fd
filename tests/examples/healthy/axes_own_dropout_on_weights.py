import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

q, k, v, fc = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 1)
optimizer = torch.optim.Adam([p for m in (q, k, v, fc) for p in m.parameters()])
x, y = torch.randn(3, 5, 6), torch.randn(3, 1)
for step in range(2):
    w = (q(x) @ k(x).mT).softmax(-1)
    keep = (torch.rand(5, 5) > 0.2).float()
    w = w * keep / 0.8
    w2 = w * (torch.rand_like(w) > 0.1)
    loss = F.mse_loss(fc((w2 @ v(x)).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
