# backward_twice: hidden
import torch
from torch import nn
class Char(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, 4, batch_first=True)
        self.out = nn.Linear(4, 1)
        self.hidden = torch.zeros(1, 1, 4)
    def forward(self, x):
        y, self.hidden = self.rnn(x, self.hidden)  # cause
        return self.out(y)
torch.manual_seed(0)
net = Char()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    loss = net(torch.ones(1, 3, 2)).pow(2).mean()
    loss.backward()
    opt.step()
