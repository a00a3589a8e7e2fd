"""SimCLR: two views, a projection head, the NT-Xent loss."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
projector = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 4))


def augment(x):
    return x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)


def nt_xent(z1, z2, temperature=0.5):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    similarity = z @ z.T / temperature
    n = len(z1)
    similarity.fill_diagonal_(float("-inf"))
    targets = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, targets)


x = torch.randn(6, 8)
opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=0.01)
for step in range(3):
    loss = nt_xent(projector(encoder(augment(x))), projector(encoder(augment(x))))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.4f}")
probe = nn.Linear(6, 2)
with torch.no_grad():
    features = encoder(x)
F.cross_entropy(probe(features), torch.tensor([0, 1, 0, 1, 0, 1])).backward()
print(probe.weight.grad.shape, features.requires_grad)
