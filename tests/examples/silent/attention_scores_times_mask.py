# attention_weights at 14: `mask`
import torch
from torch import nn

torch.manual_seed(0)
emb, wq, wk, wv, fc = nn.Embedding(12, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
optimizer = torch.optim.Adam(nn.ModuleList([emb, wq, wk, wv, fc]).parameters())
tokens = torch.tensor([[5, 7, 3, 0, 0], [4, 8, 1, 2, 0], [6, 2, 9, 0, 0]])
labels = torch.tensor([0, 1, 2])
for step in range(3):
    x = emb(tokens)
    scores = wq(x) @ wk(x).mT / 6 ** 0.5
    mask = (tokens != 0)[:, None, :].float()
    scores = scores * mask
    ctx = scores.softmax(-1) @ wv(x)
    loss = nn.functional.cross_entropy(fc(ctx.mean(1)), labels)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
