import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

critic = nn.Sequential(
    nn.utils.parametrizations.spectral_norm(nn.Linear(2, 8)),
    nn.LeakyReLU(0.2),
    nn.utils.parametrizations.spectral_norm(nn.Linear(8, 1)),
)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for _ in range(3):
    real, fake = torch.randn(4, 2) + 1, torch.randn(4, 2)
    loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
