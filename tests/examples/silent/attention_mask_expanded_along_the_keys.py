# attention_weights at 17: `mask`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, qkv, fc = nn.Embedding(30, 16), nn.Linear(16, 48), nn.Linear(16, 2)
optimizer = torch.optim.Adam([p for m in (emb, qkv, fc) for p in m.parameters()])
ids = torch.randint(1, 30, (4, 8))
ids[0, 5:], ids[2, 3:] = 0, 0
y = torch.randint(0, 2, (4,))
for step in range(3):
    keep = (ids != 0)
    q, k, v = [t.view(4, 8, 2, 8).transpose(1, 2) for t in qkv(emb(ids)).chunk(3, -1)]
    mask = keep[:, None, :, None].expand(4, 2, 8, 8)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(4, 8, 16)
    loss = F.cross_entropy(fc(out[:, 0]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
