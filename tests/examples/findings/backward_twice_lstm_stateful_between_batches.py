# backward_twice: state
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 3, batch_first=True)
        self.fc = nn.Linear(3, 1)
        self.state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
    def forward(self, x):
        out, self.state = self.lstm(x, self.state)  # cause
        return self.fc(out[:, -1])
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(1, 4, 2), torch.randn(1, 1)
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
