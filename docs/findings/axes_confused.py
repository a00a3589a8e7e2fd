# axes_confused at 16: `h`
import torch
from torch import nn

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self, T=6, d=8):
        super().__init__()
        self.inp = nn.Linear(3, d)
        self.pos = nn.Embedding(16, d)
        self.qkv = nn.Linear(d, 3 * d)
        self.fc = nn.Linear(d, 1)
    def forward(self, x):
        h = self.inp(x)
        positions = torch.arange(x.size(0)).unsqueeze(1)
        h = h + self.pos(positions)
        q, k, v = self.qkv(h).chunk(3, -1)
        a = (q @ k.transpose(1, 2) / 8 ** 0.5).softmax(-1)
        return self.fc((a @ v).mean(1))
net = Net()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(4, 6, 3), torch.randn(4, 1)
for step in range(3):
    loss = (net(x) - y).pow(2).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
