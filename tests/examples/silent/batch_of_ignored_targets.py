# nonfinite at 11: labels
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for labels in (torch.tensor([1, -100, 2]), torch.tensor([-100, -100, -100])):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(torch.randn(3, 4)), labels)
    loss.backward()
    optimizer.step()
print(net.weight)
