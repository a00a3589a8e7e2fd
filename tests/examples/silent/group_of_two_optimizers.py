# shared_group at 9: slow, fast
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
groups = [{"params": list(net.parameters()), "weight_decay": 0.1}]
slow = torch.optim.SGD(groups, lr=0.001)
fast = torch.optim.SGD(groups, lr=0.5)
for step in range(2):
    for optimizer in (slow, fast):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
print(fast.param_groups[0]["lr"])
