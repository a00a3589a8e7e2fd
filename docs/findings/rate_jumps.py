# rate_jumps at 7: `optimizer`
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for epoch in range(3):
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 0.9**k)
    for _ in range(2):
        optimizer.zero_grad()
        w.pow(2).sum().backward()
        optimizer.step()
        scheduler.step()
