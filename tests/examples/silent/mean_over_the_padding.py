# padding_takes_part at 14: 
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(30, 8, padding_idx=0)
out = nn.Linear(8, 2)
opt = torch.optim.Adam([*embed.parameters(), *out.parameters()], lr=1e-2)
tokens = torch.randint(1, 30, (4, 7))
for row, length in enumerate([7, 3, 5, 2]):
    tokens[row, length:] = 0
labels = torch.tensor([0, 1, 0, 1])
for _ in range(3):
    pooled = embed(tokens).mean(dim=1)
    loss = nn.functional.cross_entropy(out(pooled), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
