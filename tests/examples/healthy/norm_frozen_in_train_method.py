import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3)
        self.norm = nn.BatchNorm1d(2)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(12, 2)
    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self
    def forward(self, x):
        return self.head(self.drop(torch.relu(self.norm(self.conv(x)))).flatten(1))
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(4, 1, 8), torch.tensor([0, 1, 0, 1])
for epoch in range(3):
    net.train()
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        print((net(x).argmax(1) == y).float().mean().item())
