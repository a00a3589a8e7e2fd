# batches_of_one_class at 14: `kind`
import torch
from torch import nn

torch.manual_seed(0)

points = torch.cat([torch.randn(16, 2), torch.randn(16, 2) + 3])
kinds = torch.cat([torch.zeros(16), torch.ones(16)]).long()
net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    for k in range(0, 32, 8):
        batch, kind = points[k : k + 8], kinds[k : k + 8]
        loss = nn.functional.cross_entropy(net(batch), kind)
        opt.zero_grad()
        loss.backward()
        opt.step()
