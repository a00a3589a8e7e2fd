import torch
from torch import nn

torch.manual_seed(0)
netG, netD = nn.Linear(2, 2), nn.Linear(2, 1)
optimizerD = torch.optim.SGD(netD.parameters(), lr=0.1)
optimizerG = torch.optim.SGD(netG.parameters(), lr=0.1)
criterion = nn.BCEWithLogitsLoss()
for i in range(3):
    netD.zero_grad()
    label = torch.full((4, 1), 1.0)
    errD_real = criterion(netD(torch.randn(4, 2)), label)
    errD_real.backward()
    fake = netG(torch.randn(4, 2))
    label.fill_(0.0)
    errD_fake = criterion(netD(fake.detach()), label)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    label.fill_(1.0)
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
