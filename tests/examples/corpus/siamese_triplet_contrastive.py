"""Metric learning: a siamese network with contrastive, triplet and InfoNCE losses."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(6, 8), nn.PReLU(), nn.Linear(8, 3))

    def forward_once(self, x):
        return self.embed(x)

    def forward(self, a, b):
        return self.forward_once(a), self.forward_once(b)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean((1 - label) * distance.pow(2) + label * torch.clamp(self.margin - distance, min=0.0).pow(2))


def info_nce(a, b, temperature=0.1):
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / temperature
    return F.cross_entropy(logits, torch.arange(len(a)))


torch.manual_seed(0)
net = SiameseNetwork()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x0 = torch.randn(5, 6)
x1, label = x0 + 0.1 * torch.randn(5, 6), torch.tensor([[0.0], [0.0], [1.0], [1.0], [0.0]])
triplet = nn.TripletMarginLoss(margin=1.0, p=2)
for step in range(3):
    optimizer.zero_grad()
    o0, o1 = net(x0, x1)
    losses = ContrastiveLoss()(o0, o1, label), triplet(o0, o1, o1.roll(1, 0)), info_nce(o0, o1)
    sum(losses).backward()
    optimizer.step()
    print([round(l.item(), 4) for l in losses])
sim = nn.CosineSimilarity(dim=1)
print(sim(o0, o1).shape, nn.CosineEmbeddingLoss()(o0, o1, torch.ones(5)).item() < 2)
