import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.TripletMarginLoss(margin=5.0)
for _ in range(2):
    a, p, n = (net(torch.randn(4, 3)) for _ in range(3))
    loss = criterion(a, p, n)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(round(loss.item(), 2))
