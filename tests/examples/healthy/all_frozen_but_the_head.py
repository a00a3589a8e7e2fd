import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for p in net.parameters():
    p.requires_grad = False
for p in net[2].parameters():
    p.requires_grad = True
optimizer = torch.optim.SGD([{"params": net[2].weight}, {"params": net[2].bias}], lr=0.1)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
for epoch in range(4):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 / (1 + epoch)
    last = group["lr"]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, last, loss.item())
