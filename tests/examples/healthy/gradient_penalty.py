import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters())
for _ in range(2):
    x = torch.randn(4, 2, requires_grad=True)
    score = critic(x)
    (g,) = torch.autograd.grad(score.sum(), x, create_graph=True)
    loss = score.mean() + ((g.norm(dim=1) - 1) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
