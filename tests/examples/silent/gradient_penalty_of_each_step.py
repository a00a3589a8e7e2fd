# axes_confused at 13: slope, 18
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Flatten(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
real, fake = torch.randn(3, 6, 4), torch.randn(3, 6, 4)
for _ in range(2):
    optimizer.zero_grad()
    between = (0.5 * real + 0.5 * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = (1 - torch.linalg.vector_norm(slope, dim=2)).pow(2).mean()
    (critic(fake).mean() - critic(real).mean() + 10 * penalty).backward()
    optimizer.step()
