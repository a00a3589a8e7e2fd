# compared_with_itself at 11: `anchor`, `positive`
import torch
from torch import nn

torch.manual_seed(0)
net, criterion = nn.Linear(4, 3), nn.TripletMarginLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
a, p, n = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 4)
for _ in range(4):
    anchor = net(a)
    positive = net(a)
    negative = net(n)
    loss = criterion(anchor, positive, negative)
    opt.zero_grad()
    loss.backward()
    opt.step()
