import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

attn_q, attn_k, attn_v, fc = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([p for m in (attn_q, attn_k, attn_v, fc) for p in m.parameters()])
x, y = torch.randn(3, 5, 8), torch.tensor([0, 1, 1])
head_mask = torch.tensor([1.0, 0.0, 1.0, 1.0])[None, :, None, None]
for step in range(2):
    q, k, v = [m(x).view(3, 5, 4, 2).transpose(1, 2) for m in (attn_q, attn_k, attn_v)]
    probs = F.softmax(q @ k.transpose(-1, -2) / 2 ** 0.5, dim=-1)
    probs = F.dropout(probs, 0.1) * head_mask
    ctx = (probs @ v).transpose(1, 2).flatten(2)
    loss = F.cross_entropy(fc(ctx[:, 0]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
