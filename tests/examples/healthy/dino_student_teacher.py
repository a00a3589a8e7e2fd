import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

import copy

student = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 5))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False
center = torch.zeros(1, 5)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for _ in range(3):
    a, b = torch.randn(4, 4), torch.randn(4, 4)
    with torch.no_grad():
        target = F.softmax((teacher(a) - center) / 0.04, dim=1)
    loss = -(target * F.log_softmax(student(b) / 0.1, dim=1)).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for s, t in zip(student.parameters(), teacher.parameters()):
            t.mul_(0.99).add_(s, alpha=0.01)
        center = center * 0.9 + teacher(a).mean(0, keepdim=True) * 0.1
