# not_in_optimizer at 9: netG, optimizerG
import torch
from torch import nn
torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
netD = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
for i in range(4):
    real = torch.randn(8, 2) + 3
    netD.zero_grad()
    errD_real = criterion(netD(real), torch.ones(8, 1))
    errD_real.backward()
    fake = netG(torch.randn(8, 3))
    errD_fake = criterion(netD(fake.detach()), torch.zeros(8, 1))
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    errG = criterion(netD(fake), torch.ones(8, 1))
    errG.backward()
    optimizerG.step()
