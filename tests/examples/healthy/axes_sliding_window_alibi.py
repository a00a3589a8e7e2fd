import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

qkv, fc, emb = nn.Linear(8, 24), nn.Linear(8, 9), nn.Embedding(9, 8)
optimizer = torch.optim.Adam([p for m in (qkv, fc, emb) for p in m.parameters()])
ids = torch.randint(0, 9, (3, 7))
T = 6
i = torch.arange(T)
window = (i[:, None] - i[None, :]).abs() <= 1
causal = torch.ones(T, T).tril()
local = torch.triu(causal, diagonal=-2).bool()
bias = -(i[:, None] - i[None, :]).clamp(min=0).float() * 0.5
for step in range(2):
    h = emb(ids[:, :-1])
    q, k, v = qkv(h).split(8, -1)
    s = q @ k.mT / 8 ** 0.5 + bias
    a = s.masked_fill(~local, float("-inf")).softmax(-1) @ v
    b = s.masked_fill(~window, float("-inf")).softmax(-1) @ v
    loss = F.cross_entropy(fc(a).reshape(-1, 9), ids[:, 1:].reshape(-1)) + b.pow(2).mean() * 0.01
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
