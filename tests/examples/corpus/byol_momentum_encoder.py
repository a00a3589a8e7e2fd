"""BYOL: an online and a target network that follows by momentum, stop-gradient, a predictor."""
import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
predictor = nn.Linear(3, 3)
opt = torch.optim.SGD([*online.parameters(), *predictor.parameters()], lr=0.05)


@torch.no_grad()
def update_target(tau=0.9):
    for po, pt in zip(online.parameters(), target.parameters()):
        pt.data = tau * pt.data + (1 - tau) * po.data


def regression_loss(p, z):
    return 2 - 2 * F.cosine_similarity(p, z.detach(), dim=-1).mean()


x = torch.randn(8, 4)
for step in range(3):
    v1, v2 = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    loss = regression_loss(predictor(online(v1)), target(v2)) + regression_loss(predictor(online(v2)), target(v1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_target()
    print(step, f"{loss.item():.4f}")
print(all(p.grad is None for p in target.parameters()), torch.equal(target[0].weight, online[0].weight))
