import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, mha, fc = nn.Embedding(12, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
optimizer = torch.optim.Adam([p for m in (emb, mha, fc) for p in m.parameters()])
ids = torch.tensor([[0, 0, 5, 7], [0, 4, 8, 2], [6, 2, 1, 9]])
lengths = torch.tensor([2, 3, 4])
x, y = torch.randn(3, 4, 8), torch.tensor([0, 1, 1])
for step in range(2):
    h = emb(ids)
    out, _ = mha(h, h, h, key_padding_mask=ids == 0)
    pad = torch.arange(4)[None, :] < (4 - lengths)[:, None]
    out2, _ = mha(x, x, x, key_padding_mask=pad)
    loss = F.cross_entropy(fc(out[:, -1] + out2[:, -1]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
