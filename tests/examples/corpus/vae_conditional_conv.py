"""A conditional convolutional VAE, on small synthetic digits."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
LATENT, CLASSES, BATCH = 4, 3, 8


def make_images(n):
    labels = torch.randint(0, CLASSES, (n,))
    images = torch.zeros(n, 1, 8, 8)
    for i, label in enumerate(labels):
        if label == 0:
            images[i, 0, :, 3:5] = 1
        elif label == 1:
            images[i, 0, 3:5, :] = 1
        else:
            images[i, 0].fill_diagonal_(1)
    return (images + 0.05 * torch.randn_like(images)).clamp_(0, 1), labels


class CVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1 + CLASSES, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.mu = nn.Linear(64, LATENT)
        self.logvar = nn.Linear(64, LATENT)
        self.decoder_in = nn.Linear(LATENT + CLASSES, 64)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
        )

    def encode(self, x, onehot):
        planes = onehot[:, :, None, None].expand(-1, -1, *x.shape[2:])
        h = self.encoder(torch.cat([x, planes], dim=1))
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z, onehot):
        h = F.relu(self.decoder_in(torch.cat([z, onehot], dim=1)))
        return self.decoder(h.view(-1, 16, 2, 2))

    def forward(self, x, onehot):
        mu, logvar = self.encode(x, onehot)
        return self.decode(self.reparameterize(mu, logvar), onehot), mu, logvar


def elbo_loss(logits, x, mu, logvar, beta=1.0):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + beta * kld) / x.size(0), bce.item(), kld.item()


images, labels = make_images(32)
loader = DataLoader(TensorDataset(images, labels), batch_size=BATCH, shuffle=True)
model = CVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
print(f"parameters: {sum(p.numel() for p in model.parameters()):,}")

for epoch in range(3):
    model.train()
    total = 0.0
    for x, y in loader:
        onehot = F.one_hot(y, CLASSES).float()
        optimizer.zero_grad()
        logits, mu, logvar = model(x, onehot)
        loss, bce, kld = elbo_loss(logits, x, mu, logvar, beta=min(1.0, 0.3 * (epoch + 1)))
        loss.backward()
        optimizer.step()
        total += loss.item() * x.size(0)
    print(f"epoch {epoch + 1}: loss {total / len(loader.dataset):.3f} (bce {bce:.1f}, kld {kld:.3f})")

model.eval()
with torch.no_grad():
    z = torch.randn(1, LATENT)
    for c in range(CLASSES):
        onehot = F.one_hot(torch.tensor([c]), CLASSES).float()
        sample = torch.sigmoid(model.decode(z, onehot))
        print(c, sample.shape, round(sample.mean().item(), 3))
    start, end = torch.randn(2, LATENT)
    for w in torch.linspace(0, 1, 3):
        z = torch.lerp(start, end, w).unsqueeze(0)
        print(f"{w:.1f}", model.decode(z, onehot).flatten()[:3])
