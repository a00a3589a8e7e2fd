import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

assign, feat, q, k, v, fc = nn.Linear(6, 3), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 2)
slots = nn.Parameter(torch.randn(3, 6))
optimizer = torch.optim.Adam([p for m in (assign, feat, q, k, v, fc) for p in m.parameters()] + [slots])
x, y = torch.randn(4, 5, 6), torch.randint(0, 2, (4,))
for step in range(2):
    a = assign(x).softmax(-1)
    vlad = a.transpose(1, 2) @ feat(x)
    s = k(x) @ q(slots).t()
    w = s.softmax(dim=-1)
    w = w / w.sum(dim=1, keepdim=True)
    updates = w.transpose(1, 2) @ v(x)
    w2 = s.softmax(dim=-1)
    u2 = w2.transpose(1, 2) @ v(x)
    loss = F.cross_entropy(fc((vlad + updates + u2).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
