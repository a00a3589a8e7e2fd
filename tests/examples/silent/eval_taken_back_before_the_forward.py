# eval_missing at 21: net, net.train()
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
    net.eval()
    total = 0.0
    with torch.no_grad():
        for part in unseen.split(4):
            # left over from a copied training loop
            net.train()
            total += (net(part) - part.sum(1, keepdim=True)).square().mean().item()
    print(epoch, total / 2)
