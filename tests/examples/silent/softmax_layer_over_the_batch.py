# samples_mixed at 12: log_softmax, dim=1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=0))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
