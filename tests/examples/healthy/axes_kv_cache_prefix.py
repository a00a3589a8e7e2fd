import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

qkv, fc, emb = nn.Linear(8, 24), nn.Linear(8, 9), nn.Embedding(9, 8)
optimizer = torch.optim.Adam([p for m in (qkv, fc, emb) for p in m.parameters()])
ids = torch.randint(0, 9, (3, 7))
prefix = nn.Parameter(torch.randn(1, 2, 8))
for step in range(2):
    h = emb(ids[:, :-1])
    q, k, v = qkv(h).split(8, -1)
    k = torch.cat([prefix.expand(3, -1, -1), k], 1)
    v = torch.cat([prefix.expand(3, -1, -1), v], 1)
    mask = torch.tril(torch.ones(6, 8), diagonal=2).bool()
    a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    loss = F.cross_entropy(fc(a).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
