# parameter_detached at 14: fc
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 3)
        self.fc = nn.Linear(3, 5)
    def forward(self, x):
        return self.fc(torch.relu(self.body(x)))
torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.fc = nn.Linear(3, 2)
before = net.fc.weight.clone()
loss = net(torch.ones(4, 2)).pow(2).mean()
loss.backward()
opt.step()
print(torch.equal(before, net.fc.weight))
