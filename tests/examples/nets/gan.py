import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(8, 1))
loss_fn = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
for step in range(2):
    real = torch.randn(6, 2)
    fake = generator(torch.randn(6, 4))
    d_real = discriminator(real)
    d_fake = discriminator(fake.detach())
    d_loss = loss_fn(d_real, torch.ones_like(d_real)) + loss_fn(d_fake, torch.zeros_like(d_fake))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    d_fake = discriminator(fake)
    g_loss = loss_fn(d_fake, torch.ones_like(d_fake))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
