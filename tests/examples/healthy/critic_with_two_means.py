import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
for_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for_generator = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
real = torch.randn(16, 2) + 2
for step in range(3):
    for _ in range(2):
        fake = generator(torch.randn(16, 2)).detach()
        mixed = torch.lerp(real, fake, torch.rand(16, 1)).requires_grad_()
        slope, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
        loss = critic(fake).mean() - critic(real).mean() + 10 * (slope.norm(dim=1) - 1).pow(2).mean()
        for_critic.zero_grad()
        loss.backward()
        for_critic.step()
    loss = -critic(generator(torch.randn(16, 2))).mean()
    for_generator.zero_grad()
    loss.backward()
    for_generator.step()
