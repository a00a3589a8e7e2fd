"""VQ-VAE: a codebook with the straight-through estimator, and its EMA variant."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VectorQuantizer(nn.Module):
    def __init__(self, n, dim, beta=0.25):
        super().__init__()
        self.beta = beta
        self.codebook = nn.Embedding(n, dim)
        self.codebook.weight.data.uniform_(-1 / n, 1 / n)

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.size(1))
        distances = (
            flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook.weight.t() + self.codebook.weight.pow(2).sum(1)
        )
        indices = distances.argmin(1)
        quantised = self.codebook(indices).view(z.size(0), z.size(2), z.size(3), -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(quantised, z.detach()) + self.beta * F.mse_loss(z, quantised.detach())
        quantised = z + (quantised - z).detach()
        probs = F.one_hot(indices, self.codebook.num_embeddings).float().mean(0)
        perplexity = torch.exp(-(probs * (probs + 1e-10).log()).sum())
        return quantised, loss, perplexity, indices


class EMAQuantizer(nn.Module):
    def __init__(self, n, dim, decay=0.9, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        self.register_buffer("embed", torch.randn(n, dim))
        self.register_buffer("cluster_size", torch.zeros(n))
        self.register_buffer("embed_avg", self.embed.clone())

    def forward(self, flat):
        indices = torch.cdist(flat, self.embed).argmin(1)
        if self.training:
            onehot = F.one_hot(indices, len(self.embed)).type(flat.dtype)
            self.cluster_size.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
            self.embed_avg.mul_(self.decay).add_(onehot.t() @ flat.detach(), alpha=1 - self.decay)
            n = self.cluster_size.sum()
            smoothed = (self.cluster_size + self.eps) / (n + len(self.embed) * self.eps) * n
            self.embed.copy_(self.embed_avg / smoothed.unsqueeze(1))
        quantised = self.embed[indices]
        return flat + (quantised - flat).detach(), F.mse_loss(flat, quantised)


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 4, 4, 2, 1))
        self.vq = VectorQuantizer(8, 4)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(4, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))

    def forward(self, x):
        q, vq_loss, perplexity, indices = self.vq(self.encoder(x))
        return self.decoder(q), vq_loss, perplexity, indices


data = torch.rand(12, 1, 8, 8).round()
model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(6):
    recon, vq_loss, perplexity, indices = model(data)
    recon_loss = F.mse_loss(recon, data) / data.var()
    optimizer.zero_grad()
    (recon_loss + vq_loss).backward()
    optimizer.step()
    print(f"{step} recon {recon_loss.item():.4f} vq {vq_loss.item():.5f} perplexity {perplexity.item():.3f}")
print(indices.view(12, 2, 2)[0], model.vq.codebook.weight.grad.abs().sum(1).count_nonzero())

ema = EMAQuantizer(4, 2)
points = torch.cat([torch.randn(20, 2) + 3, torch.randn(20, 2) - 3]).requires_grad_()
for _ in range(5):
    q, commitment = ema(points)
print(ema.cluster_size, round(commitment.item(), 4))
q.sum().backward()
print(points.grad.unique())
