import copy
import torch
from torch import nn
torch.manual_seed(0)
meta = nn.Linear(2, 1)
outer = torch.optim.SGD(meta.parameters(), lr=0.1)
for _ in range(3):
    outer.zero_grad()
    for task in range(2):
        learner = copy.deepcopy(meta)
        inner = torch.optim.SGD(learner.parameters(), lr=0.05)
        x = torch.randn(4, 2)
        for _ in range(2):
            inner.zero_grad()
            (learner(x) - task).pow(2).mean().backward()
            inner.step()
        inner.zero_grad()
        (learner(x) - task).pow(2).mean().backward()
        for p, q in zip(meta.parameters(), learner.parameters()):
            p.grad = q.grad.clone() if p.grad is None else p.grad + q.grad
    outer.step()
