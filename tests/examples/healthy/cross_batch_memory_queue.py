import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

from collections import deque

encoder = nn.Linear(3, 2)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
memory = deque(maxlen=3)
for _ in range(5):
    z = F.normalize(encoder(torch.randn(4, 3)), dim=1)
    old = torch.cat(list(memory)) if memory else z.detach()
    loss = torch.logsumexp(z @ old.t() / 0.1, dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.append(z.detach())
