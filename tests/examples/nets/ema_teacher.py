import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return F.normalize(self.head(self.body(x)), dim=-1)


student = Projector()
teacher = copy.deepcopy(student).requires_grad_(False)
predictor = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
opt = torch.optim.SGD([*student.parameters(), *predictor.parameters()], lr=0.1)


@torch.no_grad()
def update(momentum=0.99):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(momentum).add_(fast, alpha=1 - momentum)


def regression(p, z):
    return 2 - 2 * (F.normalize(p, dim=-1) * z.detach()).sum(-1).mean()


for _ in range(2):
    x = torch.randn(5, 6)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    with torch.no_grad():
        za, zb = teacher(a), teacher(b)
    loss = regression(predictor(student(a)), zb) + regression(predictor(student(b)), za)
    opt.zero_grad()
    loss.backward()
    opt.step()
    update()
