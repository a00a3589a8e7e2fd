# term_moves_nothing at 15: penalty, loss
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
real, fake = torch.randn(6, 2) + 1, torch.randn(6, 2)


def gradient_penalty(a, b):
    t = torch.rand(len(a), 1)
    mixed = (t * a + (1 - t) * b).requires_grad_()
    score = critic(mixed).sum()
    slope = torch.autograd.grad(score, mixed, retain_graph=True)[0]
    return (slope.norm(dim=1) - 1).pow(2).mean()


for step in range(3):
    penalty = gradient_penalty(real, fake)
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
