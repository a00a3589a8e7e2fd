# attention_weights at 15: att = q
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, qkv, lm = nn.Embedding(50, 16), nn.Linear(16, 48), nn.Linear(16, 50)
optimizer = torch.optim.Adam([*emb.parameters(), *qkv.parameters(), *lm.parameters()])
ids = torch.randint(0, 50, (4, 13))
def causal_mask(n):
    return torch.triu(torch.full((n, n), float("-inf")), diagonal=2)
for step in range(3):
    q, k, v = qkv(emb(ids[:, :-1])).chunk(3, dim=-1)
    att = q @ k.transpose(1, 2) / 4 + causal_mask(12)
    out = F.softmax(att, dim=-1) @ v
    loss = F.cross_entropy(lm(out).view(-1, 50), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
