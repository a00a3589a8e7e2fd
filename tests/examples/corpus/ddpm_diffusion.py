"""A denoising diffusion model on points: noise schedule, q_sample, training, sampling."""
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
timesteps = 20
betas = torch.linspace(1e-4, 0.2, timesteps)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)


def extract(a, t, x_shape):
    out = a.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


def q_sample(x_start, t, noise=None):
    noise = torch.randn_like(x_start) if noise is None else noise
    return extract(alphas_cumprod.sqrt(), t, x_start.shape) * x_start + extract((1 - alphas_cumprod).sqrt(), t, x_start.shape) * noise


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(SinusoidalPositionEmbeddings(8), nn.Linear(8, 8), nn.SiLU())
        self.net = nn.Sequential(nn.Linear(10, 16), nn.SiLU(), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=-1))


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
angle = torch.rand(32) * 2 * math.pi
data = torch.stack([angle.cos(), angle.sin()], 1)
for step in range(4):
    t = torch.randint(0, timesteps, (32,))
    noise = torch.randn_like(data)
    loss = F.smooth_l1_loss(noise, model(q_sample(data, t, noise), t))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")


@torch.no_grad()
def p_sample(x, t_index):
    t = torch.full((x.shape[0],), t_index, dtype=torch.long)
    mean = (1 / alphas[t_index].sqrt()) * (x - betas[t_index] * model(x, t) / (1 - alphas_cumprod[t_index]).sqrt())
    return mean if t_index == 0 else mean + posterior_variance[t_index].sqrt() * torch.randn_like(x)


x = torch.randn(3, 2)
for i in reversed(range(timesteps)):
    x = p_sample(x, i)
print(x.shape, torch.isfinite(x).all())
