import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

wq, wk, wv, wo, emb, lm = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(8, 8), nn.Embedding(9, 8), nn.Linear(8, 9)
optimizer = torch.optim.Adam([p for m in (wq, wk, wv, wo, emb, lm) for p in m.parameters()])
ids = torch.randint(0, 9, (2, 7))
def rope(x):
    T, d = x.shape[-2:]
    f = torch.outer(torch.arange(T), 1.0 / 10000 ** (torch.arange(0, d, 2) / d))
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack([x1 * f.cos() - x2 * f.sin(), x1 * f.sin() + x2 * f.cos()], -1).flatten(-2)
for step in range(2):
    h = emb(ids[:, :-1])
    q = rope(wq(h).view(2, 6, 2, 4).transpose(1, 2))
    k = rope(wk(h).unsqueeze(1))
    v = wv(h).unsqueeze(1)
    s = q @ k.transpose(-2, -1) / 2
    s = s + torch.full((6, 6), float("-inf")).triu(1)
    o = (s.softmax(-1) @ v).transpose(1, 2).contiguous().view(2, 6, 8)
    loss = F.cross_entropy(lm(wo(o)).view(-1, 9), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
