# shape_mismatch: x
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(6 * 5 * 5, 10)
    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = x.view(-1, 6 * 5 * 5)  # cause
        return self.fc1(x)
net = Net()
out = net(torch.randn(4, 3, 32, 32))
loss = nn.CrossEntropyLoss()(out, torch.tensor([1, 2, 3, 4]))
