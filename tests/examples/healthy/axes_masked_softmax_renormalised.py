import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

def masked_softmax(vector, mask):
    result = torch.softmax(vector * mask, dim=-1)
    result = result * mask
    return result / (result.sum(dim=-1, keepdim=True) + 1e-13)
emb, score, fc = nn.Embedding(10, 6), nn.Linear(6, 1), nn.Linear(6, 2)
optimizer = torch.optim.Adam([p for m in (emb, score, fc) for p in m.parameters()])
ids, y = torch.tensor([[3, 4, 5, 0], [1, 2, 0, 0]]), torch.tensor([0, 1])
for step in range(2):
    mask = (ids != 0).float()
    h = emb(ids)
    w = masked_softmax(score(h).squeeze(-1), mask)
    loss = F.cross_entropy(fc((w.unsqueeze(-1) * h).sum(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
