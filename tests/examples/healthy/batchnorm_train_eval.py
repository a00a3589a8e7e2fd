import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(32, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
x, y = torch.randn(4, 1, 4, 4), torch.randint(0, 2, (4,))
for _ in range(2):
    net.train()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
print(acc)
