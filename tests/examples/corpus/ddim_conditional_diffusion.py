"""Diffusion with a cosine schedule, classifier-free guidance and DDIM sampling, on points of two classes."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
T = 20


def cosine_beta_schedule(timesteps, s=0.008):
    t = torch.linspace(0, timesteps, timesteps + 1)
    alphas_cumprod = torch.cos((t / timesteps + s) / (1 + s) * math.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    return (1 - alphas_cumprod[1:] / alphas_cumprod[:-1]).clamp(0.0001, 0.999)


betas = cosine_beta_schedule(T)
alphas = 1.0 - betas
alphas_bar = torch.cumprod(alphas, 0)
print(f"{alphas_bar[0]:.4f} … {alphas_bar[-1]:.6f}")


def extract(a, t, x):
    return a.gather(-1, t).reshape(t.shape[0], *((1,) * (x.dim() - 1)))


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
        args = time[:, None] * freqs[None, :]
        return torch.cat((args.sin(), args.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, dim=8, classes=2):
        super().__init__()
        self.time = nn.Sequential(SinusoidalPositionEmbeddings(dim), nn.Linear(dim, dim), nn.SiLU())
        self.label = nn.Embedding(classes + 1, dim)
        self.null = classes
        self.inp, self.mid, self.out = nn.Linear(2, dim), nn.Linear(dim, dim), nn.Linear(dim, 2)

    def forward(self, x, t, y):
        h = self.inp(x) + self.time(t.float()) + self.label(y)
        h = F.silu(h) + F.silu(self.mid(F.silu(h)))
        return self.out(h)


def q_sample(x0, t, noise):
    return extract(alphas_bar.sqrt(), t, x0) * x0 + extract((1 - alphas_bar).sqrt(), t, x0) * noise


def sample_data(n):
    y = torch.randint(0, 2, (n,))
    angle = torch.rand(n) * math.pi + y * math.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2), y


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
ema = {k: v.clone() for k, v in model.state_dict().items()}
for step in range(8):
    x0, y = sample_data(32)
    drop = torch.rand(32) < 0.2
    y = torch.where(drop, torch.full_like(y, model.null), y)
    t = torch.randint(0, T, (32,))
    noise = torch.randn_like(x0)
    loss = F.smooth_l1_loss(model(q_sample(x0, t, noise), t, y), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].lerp_(v, 0.1)
    if step % 2 == 0:
        print(f"{step} loss {loss.item():.4f}")

model.load_state_dict(ema)


@torch.no_grad()
def ddim(n, y, steps=5, guidance=2.0, eta=0.0):
    times = torch.linspace(T - 1, 0, steps).long()
    x = torch.randn(n, 2)
    for i, t in enumerate(times):
        batch = t.expand(n)
        conditional = model(x, batch, torch.full((n,), y))
        unconditional = model(x, batch, torch.full((n,), model.null))
        eps = unconditional + guidance * (conditional - unconditional)
        ab = alphas_bar[t]
        previous = alphas_bar[times[i + 1]] if i + 1 < steps else torch.tensor(1.0)
        x0 = (x - (1 - ab).sqrt() * eps) / ab.sqrt()
        x0.clamp_(-1.5, 1.5)
        sigma = eta * ((1 - previous) / (1 - ab) * (1 - ab / previous)).clamp(min=0).sqrt()
        x = previous.sqrt() * x0 + (1 - previous - sigma**2).clamp(min=0).sqrt() * eps + sigma * torch.randn_like(x)
    return x


for label in (0, 1):
    print(label, ddim(16, label).mean(0), ddim(16, label, eta=1.0).std(0))
