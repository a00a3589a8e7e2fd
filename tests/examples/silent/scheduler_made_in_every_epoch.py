# rate_jumps at 8: `optimizer`
import torch
from torch.optim.lr_scheduler import LambdaLR

w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for epoch in range(3):
    schedule = LambdaLR(optimizer, lambda k: 0.5**k)
    for _ in range(2):
        optimizer.zero_grad()
        w.pow(2).sum().backward()
        optimizer.step()
        schedule.step()
