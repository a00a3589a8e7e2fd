"""DCGAN: transposed convolutions, weights_init with apply, two optimizers."""
import torch
import torch.nn as nn

nz, ngf, ndf, nc = 6, 4, 4, 1
torch.manual_seed(999)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Flatten(),
            nn.Linear(ndf * 2, 1),
        )

    def forward(self, input):
        return self.main(input)


netG = Generator()
netG.apply(weights_init)
netD = Discriminator()
netD.apply(weights_init)
print(netG)
criterion = nn.BCEWithLogitsLoss()
fixed_noise = torch.randn(2, nz, 1, 1)
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.0002, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.0002, betas=(0.5, 0.999))
img_list = []
for i in range(2):
    netD.zero_grad()
    real = torch.rand(4, nc, 8, 8) * 2 - 1
    errD_real = criterion(netD(real).view(-1), torch.ones(4))
    errD_real.backward()
    fake = netG(torch.randn(4, nz, 1, 1))
    errD_fake = criterion(netD(fake.detach()).view(-1), torch.zeros(4))
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    errG = criterion(netD(fake).view(-1), torch.ones(4))
    errG.backward()
    optimizerG.step()
    print(f"{errD_real.item() + errD_fake.item():.4f} {errG.item():.4f}")
    with torch.no_grad():
        img_list.append(netG(fixed_noise).detach().cpu())
print(len(img_list), img_list[-1].shape)
