import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

embed = nn.Embedding(10, 3, sparse=True)
head = nn.Linear(3, 2)
sparse = torch.optim.SparseAdam(embed.parameters(), lr=0.01)
dense = torch.optim.Adam(head.parameters(), lr=0.01)
ids, y = torch.tensor([1, 4, 4]), torch.tensor([0, 1, 1])
for _ in range(2):
    sparse.zero_grad()
    dense.zero_grad()
    F.cross_entropy(head(embed(ids)), y).backward()
    sparse.step()
    dense.step()
