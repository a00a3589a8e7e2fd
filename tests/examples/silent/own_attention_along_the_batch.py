# samples_mixed at 11: linear
import torch
from torch import nn

torch.manual_seed(0)
embed, to_qkv, fc = nn.Embedding(15, 8), nn.Linear(8, 24), nn.Linear(8, 2)
optimizer = torch.optim.Adam([p for m in (embed, to_qkv, fc) for p in m.parameters()])
ids, y = torch.randint(0, 15, (4, 6)), torch.tensor([0, 1, 1, 0])
for step in range(3):
    q, k, v = to_qkv(embed(ids)).transpose(0, 1).chunk(3, dim=-1)
    weights = (q @ k.transpose(1, 2) / 8**0.5).softmax(-1)
    mixed = torch.einsum("tij,tjd->tid", weights, v)
    loss = nn.functional.cross_entropy(fc(mixed.mean(0)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
