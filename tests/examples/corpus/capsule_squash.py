"""Capsules: the squash function and dynamic routing."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def squash(x, dim=-1):
    squared = (x ** 2).sum(dim=dim, keepdim=True)
    return squared / (1 + squared) * x / (squared.sqrt() + 1e-8)


class DigitCaps(nn.Module):
    def __init__(self, in_caps=5, in_dim=4, out_caps=3, out_dim=6, routings=3):
        super().__init__()
        self.W = nn.Parameter(0.1 * torch.randn(out_caps, in_caps, out_dim, in_dim))
        self.routings = routings

    def forward(self, x):
        u_hat = torch.squeeze(torch.matmul(self.W, x[:, None, :, :, None]), dim=-1)
        detached = u_hat.detach()
        b = torch.zeros(x.size(0), self.W.size(0), self.W.size(1))
        for i in range(self.routings):
            c = F.softmax(b, dim=1)
            if i == self.routings - 1:
                return squash((c[:, :, :, None] * u_hat).sum(dim=-2))
            v = squash((c[:, :, :, None] * detached).sum(dim=-2))
            b = b + (v[:, :, None, :] * detached).sum(dim=-1)


caps = DigitCaps()
x = squash(torch.randn(2, 5, 4))
v = caps(x)
lengths = v.norm(dim=-1)
y = F.one_hot(torch.tensor([0, 2]), 3).float()
margin = y * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - y) * F.relu(lengths - 0.1) ** 2
loss = margin.sum(1).mean()
loss.backward()
print(v.shape, lengths, f"{loss.item():.4f}", caps.W.grad.abs().sum() > 0)
