# attention_weights at 15: `is_pad`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
emb, qkv, fc = nn.Embedding(12, 8), nn.Linear(8, 24), nn.Linear(8, 3)
optimizer = torch.optim.Adam(nn.ModuleList([emb, qkv, fc]).parameters())
tokens = torch.tensor([[5, 7, 3, 0, 0], [4, 8, 1, 2, 0], [6, 2, 9, 0, 0]])
labels = torch.tensor([0, 1, 2])
for step in range(3):
    x = emb(tokens)
    q, k, v = qkv(x).view(3, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
    is_pad = (tokens == 0)[:, None, None, :]
    ctx = F.scaled_dot_product_attention(q, k, v, attn_mask=is_pad)
    ctx = ctx.transpose(1, 2).reshape(3, 5, 8)
    loss = F.cross_entropy(fc(ctx.mean(1)), labels)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
