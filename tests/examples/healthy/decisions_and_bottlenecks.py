"""Scores that are decided rightly, linear layers with a narrow middle or two readers, memory that is filled before it is
read, mixed batches, one batch on purpose, gates that saturate at the end, a weight that grows to where it belongs."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class LowRank(nn.Module):
    def __init__(self, size: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(size, size)
        self.down, self.up = nn.Linear(size, rank, bias=False), nn.Linear(rank, size, bias=False)
        self.scale = nn.Parameter(torch.empty(size))
        nn.init.ones_(self.scale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scale * self.up(self.down(x))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.mean, self.spread = nn.Linear(12, 3), nn.Linear(12, 3)
        self.back = nn.Linear(3, 6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = self.body(x)
        mean, spread = self.mean(h), self.spread(h)
        return self.back(mean + torch.randn_like(mean) * (0.5 * spread).exp()), mean, spread


x, kinds = torch.randn(24, 6), torch.randint(0, 2, (24,))
labels = kinds.float()

judge = nn.Sequential(LowRank(6, 2), nn.ReLU(), nn.Linear(6, 1))
opt = torch.optim.Adam(judge.parameters(), lr=0.02)
for _ in range(5):
    score = judge(x).squeeze(1)
    loss = F.binary_cross_entropy_with_logits(score, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    chance = torch.sigmoid(score)
    right = ((chance > 0.5) == kinds.bool()).sum() + ((score > 0).long() == kinds).sum()
    rounded = (chance.round() == kinds).sum()
    sure = (chance > 0.9).sum()
    print(loss.item(), right.item(), rounded.item(), sure.item())

classes = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.SGD(classes.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, kinds), batch_size=8, shuffle=True)
hits = torch.empty(5, 3)
for epoch in range(5):
    for k, (xb, yb) in enumerate(loader):
        out = classes(xb)
        loss = F.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        values, places = out.max(1)
        whole = (values == values.long()).any()
        hits[epoch, k] = (places == yb).float().mean()
        bound = values.detach() == values.max()
print(hits.mean().item(), bound.any().item())

xb, yb = next(iter(loader))
for _ in range(4):
    loss = F.cross_entropy(classes(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()

encoder = Encoder()
opt = torch.optim.Adam(encoder.parameters(), lr=0.01)
for _ in range(4):
    xb, _ = next(iter(loader))
    again, mean, spread = encoder(xb)
    loss = F.mse_loss(again, xb) + 0.1 * (mean.pow(2) + spread.exp() - 1 - spread).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

gate, far = nn.Linear(1, 1), nn.Parameter(torch.tensor([0.01]))
opt = torch.optim.SGD([*gate.parameters(), far], lr=0.3)
side = torch.cat([torch.full((8, 1), -60.0), torch.full((8, 1), 60.0)])
for _ in range(5):
    share = torch.sigmoid(40 * gate(side))
    loss = (share - (side > 0).float()).pow(2).mean() + (far - 50).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(far.item())
