import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

critic = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(3):
    real = torch.randn(4, 2).requires_grad_()
    score = critic(real)
    (gradient,) = torch.autograd.grad(score.sum(), real, create_graph=True)
    penalty = gradient.square().sum(dim=1).mean()
    loss = F.softplus(-score).mean() + 5 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(penalty.item())
