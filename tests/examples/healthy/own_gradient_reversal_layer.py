import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class ClipGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-0.01, 0.01)


torch.manual_seed(0)
features, labels, domains = nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(3, 2)
optimizer = torch.optim.SGD([*features.parameters(), *labels.parameters(), *domains.parameters()], lr=0.1)
x, y, d = torch.randn(6, 4), torch.tensor([0, 1] * 3), torch.tensor([0, 0, 0, 1, 1, 1])
for step in range(3):
    h = ClipGradient.apply(features(x))
    loss = nn.functional.cross_entropy(labels(h), y) + nn.functional.cross_entropy(domains(Reverse.apply(h, 0.5)), d)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
