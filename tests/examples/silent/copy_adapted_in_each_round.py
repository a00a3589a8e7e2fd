# parameter_detached at 10: learner, fast, functional_call(learner
import copy

import torch
from torch import nn

learner = nn.Linear(2, 1)
opt = torch.optim.SGD(learner.parameters(), lr=0.1)
for task in range(4):
    fast = copy.deepcopy(learner)
    x, y = torch.randn(4, 2), torch.randn(4, 1)
    support = (fast(x) - y).pow(2).mean()
    for p, g in zip(fast.parameters(), torch.autograd.grad(support, list(fast.parameters()))):
        p.data -= 0.1 * g
    query = (fast(torch.randn(4, 2)) - y).pow(2).mean()
    opt.zero_grad()
    query.backward()
    opt.step()
