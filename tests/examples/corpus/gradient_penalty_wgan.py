"""WGAN with gradient penalty: gradients with respect to inputs inside the loss."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))


def gradient_penalty(critic, real, fake):
    batch = real.size(0)
    epsilon = torch.rand(batch, 1).expand_as(real)
    interpolated = (epsilon * real + (1 - epsilon) * fake).requires_grad_(True)
    mixed_scores = critic(interpolated)
    gradient = torch.autograd.grad(
        inputs=interpolated,
        outputs=mixed_scores,
        grad_outputs=torch.ones_like(mixed_scores),
        create_graph=True,
        retain_graph=True,
    )[0]
    gradient = gradient.view(gradient.shape[0], -1)
    gradient_norm = gradient.norm(2, dim=1)
    return torch.mean((gradient_norm - 1) ** 2)


for step in range(2):
    real = torch.randn(6, 2) + 2
    for _ in range(2):
        fake = generator(torch.randn(6, 3))
        gp = gradient_penalty(critic, real, fake.detach())
        loss_c = -(critic(real).mean() - critic(fake.detach()).mean()) + 10 * gp
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(generator(torch.randn(6, 3))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    print(step, f"{loss_c.item():.4f} {loss_g.item():.4f} {gp.item():.4f}")
