"""Mixup, cutmix and label smoothing in a training step."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-4)
x, y = torch.rand(6, 1, 6, 6), torch.tensor([0, 1, 2, 0, 1, 2])


def mixup(x, y, alpha=0.4):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index], y, y[index], lam


def cutmix(x, y):
    index = torch.randperm(x.size(0))
    mixed = x.clone()
    mixed[:, :, 1:4, 2:5] = x[index, :, 1:4, 2:5]
    return mixed, y, y[index], 1 - 9 / 36


def smooth_loss(logits, target, eps=0.1):
    n = logits.size(-1)
    log_preds = F.log_softmax(logits, dim=-1)
    return (1 - eps) * F.nll_loss(log_preds, target) + eps * (-log_preds.sum(dim=-1).mean() / n)


print(torch.allclose(smooth_loss(model(x), y), F.cross_entropy(model(x), y, label_smoothing=0.1)))
for augment in (mixup, cutmix):
    mixed, ya, yb, lam = augment(x, y)
    logits = model(mixed)
    loss = lam * smooth_loss(logits, ya) + (1 - lam) * smooth_loss(logits, yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(augment.__name__, f"{lam:.3f} {loss.item():.4f}", mixed.shape)
