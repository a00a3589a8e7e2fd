# loss_times_mask at 14: kept, 48
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(5, 6), nn.Linear(3, 5)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for step in range(3):
    steps, kept = torch.randn(8, 6, 5), (torch.arange(6) < torch.randint(2, 7, (8, 1))).float()
    mean, log_var = encoder(steps).chunk(2, dim=-1)
    z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
    rebuilt = F.mse_loss(decoder(z), steps, reduction="none").sum(dim=-1) * kept
    kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp()) * kept
    loss = (rebuilt + kl).sum() / kept.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
