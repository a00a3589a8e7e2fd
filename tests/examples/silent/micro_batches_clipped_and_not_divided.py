# accumulation_undivided at 9: backward(), 3
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for k, batch in enumerate(torch.randn(6, 4, 3), 1):
    net(batch).square().mean().backward()
    if k % 3 == 0:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
