import torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 3)
        self.fc = nn.Linear(3, 1)
    def forward(self, x, state):
        y, state = self.lstm(x, state)
        return self.fc(y), state
def repackage(state):
    return tuple(part.detach() for part in state)
net = Model()
opt = torch.optim.Adam(net.parameters())
state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for t in range(3):
    state = repackage(state)
    y, state = net(torch.randn(4, 1, 2), state)
    opt.zero_grad()
    y.pow(2).mean().backward()
    opt.step()
