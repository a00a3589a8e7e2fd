# eval_missing at 17: net, net.1
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.tensor([0, 1] * 8)
x_test, y_test = torch.randn(8, 4), torch.tensor([0, 1] * 4)
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
correct = 0
with torch.no_grad():
    for xb, yb in zip(x_test.split(4), y_test.split(4)):
        correct += (net(xb).argmax(1) == yb).sum().item()
print(correct / 8)
