"""A denoising autoencoder with convolutions and tied decoding."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 2 * 2, 3))
        self.decoder_lin = nn.Linear(3, 8 * 2 * 2)
        self.unflatten = nn.Unflatten(dim=1, unflattened_size=(8, 2, 2))
        self.decoder_conv = nn.Sequential(
            nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1), nn.ReLU(),
            nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1))

    def forward(self, x):
        z = self.encoder(x)
        x = self.decoder_conv(self.unflatten(F.relu(self.decoder_lin(z))))
        return torch.sigmoid(x), z


def add_noise(inputs, noise_factor=0.3):
    noisy = inputs + torch.randn_like(inputs) * noise_factor
    return torch.clip(noisy, 0.0, 1.0)


model = Autoencoder()
images = torch.rand(10, 1, 8, 8)
optim = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-05)
history = {"train_loss": []}
for epoch in range(3):
    noisy = add_noise(images)
    decoded, latent = model(noisy)
    loss = F.mse_loss(decoded, images)
    optim.zero_grad()
    loss.backward()
    optim.step()
    history["train_loss"].append(round(loss.item(), 5))
print(history, latent.shape)
with torch.no_grad():
    a, b = model.encoder(images[:2])
    steps = torch.stack([a + (b - a) * k / 4 for k in range(5)])
    walk = model.decoder_conv(model.unflatten(F.relu(model.decoder_lin(steps))))
    print(walk.shape)
