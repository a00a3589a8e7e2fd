import torch
from torch import nn
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return -ctx.weight * g, None
torch.manual_seed(0)
feat, task, domain = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD([*feat.parameters(), *task.parameters(), *domain.parameters()], lr=0.1)
for _ in range(2):
    h = torch.tanh(feat(torch.randn(4, 2)))
    loss = task(h).pow(2).mean() + (domain(Reverse.apply(h, 0.5)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
