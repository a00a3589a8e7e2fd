import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

qkv_f, qkv_b, fc, emb = nn.Linear(8, 24), nn.Linear(8, 24), nn.Linear(16, 9), nn.Embedding(9, 8)
optimizer = torch.optim.Adam([p for m in (qkv_f, qkv_b, fc, emb) for p in m.parameters()])
ids = torch.randint(0, 9, (3, 6))
lower = torch.tril(torch.ones(6, 6)).bool()
upper = torch.triu(torch.ones(6, 6)).bool()
for step in range(2):
    h = emb(ids)
    outs = []
    for lin, see in ((qkv_f, lower), (qkv_b, upper)):
        q, k, v = lin(h).chunk(3, -1)
        s = (q @ k.mT / 8 ** 0.5).masked_fill(~see, float("-inf"))
        outs.append(s.softmax(-1) @ v)
    both = torch.cat([outs[0][:, :-2], outs[1][:, 2:]], -1)
    loss = F.cross_entropy(fc(both).reshape(-1, 9), ids[:, 1:-1].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
