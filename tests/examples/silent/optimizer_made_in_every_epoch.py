# rate_jumps at 8: `optimizer`
import torch

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
x = torch.randn(12, 3)
for epoch in range(4):
    optimizer = torch.optim.SGD([w], lr=0.05, momentum=0.9)
    for batch in x.split(4):
        loss = (batch @ w - batch.sum(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
