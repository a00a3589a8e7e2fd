import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Codebook(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.code = nn.Embedding(size, dim)
        self.sums = nn.Parameter(torch.randn(size, dim))
        self.register_buffer("counts", torch.ones(size))

    def forward(self, z):
        chosen = torch.cdist(z, self.code.weight).argmin(1)
        one_hot = F.one_hot(chosen, len(self.counts)).float()
        if self.training:
            self.counts = 0.9 * self.counts + 0.1 * one_hot.sum(0)
            self.sums = nn.Parameter(0.9 * self.sums + 0.1 * one_hot.t() @ z)
            self.code.weight = nn.Parameter(self.sums / (self.counts.unsqueeze(1) + 1e-5))
        q = self.code(chosen)
        return z + (q - z).detach(), F.mse_loss(z, q.detach())


encoder, codebook, decoder = nn.Linear(5, 3), Codebook(4, 3), nn.Linear(3, 5)
optimizer = torch.optim.Adam([*encoder.parameters(), *codebook.parameters(), *decoder.parameters()], lr=0.02)
for step in range(4):
    x = torch.randn(10, 5)
    q, commitment = codebook(encoder(x))
    loss = F.mse_loss(decoder(q), x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
