"""Matrix factorisation with biases for ratings, and neural collaborative filtering."""
import torch
from torch import nn

torch.manual_seed(0)
users, items = 6, 8
ratings = torch.randint(1, 6, (users, items)).float()
mask = torch.rand(users, items) < 0.6
u_idx, i_idx = mask.nonzero(as_tuple=True)
r = ratings[u_idx, i_idx]


class MF(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.P, self.Q = nn.Embedding(users, k), nn.Embedding(items, k)
        self.bu, self.bi = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.mu = nn.Parameter(r.mean())
        for e in (self.P, self.Q):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        return (self.P(u) * self.Q(i)).sum(1) + self.bu(u).squeeze(1) + self.bi(i).squeeze(1) + self.mu


class NeuMF(nn.Module):
    def __init__(self, k=4):
        super().__init__()
        self.user, self.item = nn.Embedding(users, k), nn.Embedding(items, k)
        self.mlp = nn.Sequential(nn.Linear(2 * k, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, u, i):
        return self.mlp(torch.cat([self.user(u), self.item(i)], dim=1)).squeeze(1) * 2 + 3


for model in (MF(), NeuMF()):
    opt = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-5)
    for epoch in range(4):
        perm = torch.randperm(len(r))
        for batch in perm.split(10):
            loss = nn.functional.mse_loss(model(u_idx[batch], i_idx[batch]), r[batch])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        grid = model(torch.arange(users).repeat_interleave(items), torch.arange(items).repeat(users)).view(users, items)
        print(type(model).__name__, f"RMSE {((grid[mask] - ratings[mask]) ** 2).mean().sqrt():.4f}", grid.masked_fill(mask, -1).argmax(1))
