# samples_mixed at 7: `layer.self_attn`, `batch_first=True`
import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(15, 8)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
fc = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*emb.parameters(), *layer.parameters(), *fc.parameters()])
ids, y = torch.randint(0, 15, (4, 6)), torch.tensor([0, 1, 1, 0])
for step in range(3):
    h = layer(emb(ids))
    loss = nn.functional.cross_entropy(fc(h.mean(dim=1)), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
