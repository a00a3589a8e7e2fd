import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(4, 3), nn.Linear(3, 4)
codes = nn.Embedding(6, 3)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *codes.parameters()], lr=1e-2)
x = torch.randn(10, 4)
for step in range(3):
    z = encoder(x)
    nearest = torch.cdist(z, codes.weight).argmin(1)
    quantized = codes(nearest)
    loss = F.mse_loss(quantized, z.detach()) + 0.25 * F.mse_loss(z, quantized.detach())
    straight = z + (quantized - z).detach()
    loss = loss + F.mse_loss(decoder(straight), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
