"""Energy-based sampling: Langevin dynamics, Metropolis, score matching."""
import torch
from torch import nn

torch.manual_seed(0)
energy = lambda x: 0.5 * (x ** 2).sum(-1) + torch.cos(3 * x).sum(-1)
x = torch.randn(16, 2)
for step in range(5):
    x = x.detach().requires_grad_()
    g, = torch.autograd.grad(energy(x).sum(), x)
    x = x - 0.05 * g + (0.1 ** 0.5) * torch.randn_like(x)
print(x.detach().mean(0), energy(x).mean())
state, accepted = torch.zeros(2), 0
for _ in range(15):
    proposal = state + 0.5 * torch.randn(2)
    if torch.rand(()) < torch.exp(energy(state) - energy(proposal)):
        state, accepted = proposal, accepted + 1
print(accepted, state)
score = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 2))
opt = torch.optim.Adam(score.parameters(), lr=0.02)
data = torch.randn(32, 2) + 1
for step in range(4):
    noise = 0.3 * torch.randn_like(data)
    loss = ((score(data + noise) + noise / 0.09) ** 2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.3f}")
