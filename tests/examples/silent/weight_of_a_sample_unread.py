# batch_part_unread at 9: `weight`
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.randn(8, 3), torch.randn(8, 1), torch.rand(8, 1))
for x, target, weight in DataLoader(data, batch_size=4):
    loss = (net(x) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
