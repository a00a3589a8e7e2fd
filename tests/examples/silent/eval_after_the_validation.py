# eval_missing at 18: net, net.2
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Dropout(0.4), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
seen, unseen = torch.randn(12, 5), torch.randn(8, 5)
for epoch in range(2):
    net.train()
    for part in seen.split(6):
        optimizer.zero_grad()
        error = (net(part) - part.sum(1, keepdim=True)).square().mean()
        error.backward()
        optimizer.step()
    with torch.no_grad():
        # the mode changes one line too late
        error = (net(unseen) - unseen.sum(1, keepdim=True)).square().mean()
        net.eval()
    print(epoch, error.item())
