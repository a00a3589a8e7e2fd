import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(5, 6), nn.Linear(3, 5)
rnn = nn.GRU(3, 4, batch_first=True, bidirectional=True)
to_qkv, head = nn.Linear(8, 24), nn.Linear(8, 3)
modules = nn.ModuleList([encoder, decoder, rnn, to_qkv, head])
optimizer = torch.optim.Adam(modules.parameters(), lr=0.01)
kept = torch.arange(6) < torch.tensor([[6], [4], [5], [3]])
image = torch.randint(1, 256, (4, 6, 3), dtype=torch.uint8)
depth = (image[..., 1].int() * 2**8 + image[..., 2]).float() / 2**16
labels = torch.tensor([0, 1, 2, 1])
for step in range(4):
    steps = torch.randn(4, 6, 5) + depth[..., None]
    mean, log_var = encoder(steps).chunk(2, dim=-1)
    z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
    rebuilt = F.mse_loss(decoder(z), steps, reduction="none").sum(dim=-1) * kept
    kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp(), dim=-1) * kept
    states, _ = rnn(z)
    q, k, v = to_qkv(states).chunk(3, dim=-1)
    scores = (q @ k.transpose(1, 2) / 8**0.5).masked_fill(~kept[:, None, :], -1e9)
    pooled = (scores.softmax(dim=-1) @ v)[:, 0]
    log_probs = F.log_softmax(head(F.relu(pooled)), dim=-1)
    loss = (rebuilt + kl).sum() / kept.sum() + F.nll_loss(log_probs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
