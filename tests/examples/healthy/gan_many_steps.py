import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
generator_step = torch.optim.Adam(generator.parameters(), lr=1e-3)
discriminator_step = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for batch in range(100):
    real = torch.randn(16, 2) + 2
    fake = generator(torch.randn(16, 2))
    loss_real = criterion(discriminator(real), torch.ones(16, 1))
    loss_fake = criterion(discriminator(fake.detach()), torch.zeros(16, 1))
    discriminator_step.zero_grad()
    (loss_real + loss_fake).backward()
    discriminator_step.step()
    generator_step.zero_grad()
    criterion(discriminator(fake), torch.ones(16, 1)).backward()
    generator_step.step()
