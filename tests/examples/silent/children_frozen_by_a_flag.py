# module_flag at 11: requires_grad
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features, self.head = nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 1)
    def forward(self, x):
        return self.head(self.features(x))
torch.manual_seed(0)
net = Net(); net.features.requires_grad = False
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
