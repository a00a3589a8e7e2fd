import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, hidden):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, self.heads, -1).transpose(1, 2).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(hidden, float("-inf"))
        return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, width))


attention, head = Attention(16, 4), nn.Linear(16, 6)
tokens, table = torch.randint(0, 6, (32, 12)), nn.Embedding(6, 16)
hidden = torch.triu(torch.ones(11, 11, dtype=torch.bool), diagonal=1)
opt = torch.optim.Adam([*attention.parameters(), *head.parameters(), *table.parameters()], lr=0.01)
for _ in range(4):
    opt.zero_grad()
    x = table(tokens[:, :-1])
    loss = F.cross_entropy(head(x + attention(x, hidden)).transpose(1, 2), tokens[:, 1:])
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
