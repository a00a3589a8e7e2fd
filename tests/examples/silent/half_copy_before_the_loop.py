# stale_copy at 7: `low`, `weight`
import torch

torch.manual_seed(0)
weight = torch.randn(4, 2, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
low = weight.bfloat16()
for step in range(4):
    loss = (torch.randn(3, 4).bfloat16() @ low).float().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
