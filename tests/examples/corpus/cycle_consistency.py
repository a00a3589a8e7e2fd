"""Two generators and cycle consistency, as in CycleGAN, with an image pool."""
import itertools
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
make_g = lambda: nn.Sequential(nn.Linear(2, 8), nn.InstanceNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
make_d = lambda: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
G, F, D_A, D_B = make_g(), make_g(), make_d(), make_d()
opt_g = torch.optim.Adam(itertools.chain(G.parameters(), F.parameters()), lr=2e-3)
opt_d = torch.optim.Adam(itertools.chain(D_A.parameters(), D_B.parameters()), lr=2e-3)
mse, l1 = nn.MSELoss(), nn.L1Loss()


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, image):
        if len(self.images) < self.size:
            self.images.append(image)
            return image
        if random.random() > 0.5:
            i = random.randrange(self.size)
            old, self.images[i] = self.images[i], image
            return old
        return image


pool = ImagePool(2)
for step in range(3):
    a, b = torch.randn(5, 2), torch.randn(5, 2) + 2
    for d in (D_A, D_B):
        d.requires_grad_(False)
    fake_b, fake_a = G(a), F(b)
    adversarial = mse(D_B(fake_b), torch.ones(5, 1)) + mse(D_A(fake_a), torch.ones(5, 1))
    cycle = l1(F(fake_b), a) + l1(G(fake_a), b)
    loss_g = adversarial + 10 * cycle + 5 * (l1(G(b), b) + l1(F(a), a))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    for d in (D_A, D_B):
        d.requires_grad_(True)
    old = pool.query(fake_b.detach())
    loss_d = mse(D_B(b), torch.ones(5, 1)) + mse(D_B(old), torch.zeros(5, 1)) + mse(D_A(a), torch.ones(5, 1)) + mse(D_A(fake_a.detach()), torch.zeros(5, 1))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    print(step, f"{loss_g.item():.4f} {loss_d.item():.4f} {cycle.item():.4f}")
