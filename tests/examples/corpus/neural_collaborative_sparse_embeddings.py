"""Recommendation: matrix factorisation with biases, sparse embeddings with SparseAdam, and ranking by BPR."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
USERS, ITEMS = 10, 14
truth = torch.randn(USERS, 2) @ torch.randn(2, ITEMS)
seen = torch.rand(USERS, ITEMS) < 0.4
users, items = seen.nonzero(as_tuple=True)
ratings = truth[users, items].clamp(-2, 2) + 3


class MF(nn.Module):
    def __init__(self, k=3, sparse=True):
        super().__init__()
        self.P = nn.Embedding(USERS, k, sparse=sparse)
        self.Q = nn.Embedding(ITEMS, k, sparse=sparse)
        self.user_bias = nn.Embedding(USERS, 1, sparse=sparse)
        self.item_bias = nn.Embedding(ITEMS, 1, sparse=sparse)
        for e in (self.P, self.Q):
            nn.init.normal_(e.weight, 0, 0.1)
        self.mean = 3.0

    def forward(self, u, i):
        dot = (self.P(u) * self.Q(i)).sum(1)
        return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1) + self.mean


model = MF()
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
for epoch in range(3):
    order = torch.randperm(len(users))
    total = 0.0
    for chunk in order.split(16):
        loss = F.mse_loss(model(users[chunk], items[chunk]), ratings[chunk])
        optimizer.zero_grad()
        loss.backward()
        if epoch == 0 and total == 0:
            g = model.P.weight.grad
            print(g.is_sparse, g.layout, tuple(g.shape), g._nnz(), g.coalesce()._nnz() <= g._nnz())
        optimizer.step()
        total += loss.item() * len(chunk)
    print(f"epoch {epoch} rmse {(total / len(users)) ** 0.5:.4f}")

scores = model.P.weight @ model.Q.weight.t() + model.user_bias.weight + model.item_bias.weight.t()
best = scores.masked_fill(seen, -torch.inf).topk(3, dim=1)
print(best.indices[:3])


class NeuMF(nn.Module):
    def __init__(self):
        super().__init__()
        self.P, self.Q = nn.Embedding(USERS, 3), nn.Embedding(ITEMS, 3)
        self.U, self.V = nn.Embedding(USERS, 3), nn.Embedding(ITEMS, 3)
        self.mlp = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Dropout(0.1))
        self.out = nn.Linear(9, 1, bias=False)

    def forward(self, u, i):
        gmf = self.P(u) * self.Q(i)
        mlp = self.mlp(torch.cat([self.U(u), self.V(i)], dim=1))
        return self.out(torch.cat([gmf, mlp], dim=1)).squeeze(1)


net = NeuMF()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=1e-5)
unseen = (~seen).float()
for epoch in range(3):
    negatives = torch.multinomial(unseen[users], 1).squeeze(1)
    loss = -F.logsigmoid(net(users, items) - net(users, negatives)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"BPR {epoch} {loss.item():.4f}")

net.eval()
with torch.no_grad():
    u, i = torch.meshgrid(torch.arange(USERS), torch.arange(ITEMS), indexing="ij")
    ranking = net(u.flatten(), i.flatten()).view(USERS, ITEMS).argsort(1, descending=True)
    hits = seen.gather(1, ranking[:, :5]).any(1).float().mean()
    print(f"hit rate {hits:.2f}")
bag = nn.EmbeddingBag(ITEMS, 3, mode="mean", sparse=True)
offsets = torch.tensor([0, 2, 5])
history = torch.tensor([1, 3, 0, 2, 2, 9])
bag(history, offsets).sum().backward()
print(bag.weight.grad.coalesce().indices(), bag.weight.grad.coalesce().values()[:, 0])
