import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, q, k, v, fc = nn.Embedding(10, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 2)
optimizer = torch.optim.Adam([p for m in (emb, q, k, v, fc) for p in m.parameters()])
ids, y = torch.tensor([[3, 4, 5, 0], [1, 2, 0, 0], [4, 3, 2, 1]]), torch.tensor([0, 1, 0])
for step in range(2):
    keep = (ids != 0)
    h = emb(ids)
    both = keep[:, :, None] & keep[:, None, :]
    s = (q(h) @ k(h).mT / 6 ** 0.5).masked_fill(~both, -1e9)
    out = (s.softmax(-1) @ v(h)) * keep[..., None]
    loss = F.cross_entropy(fc(out.sum(1) / keep.sum(1)[:, None]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
