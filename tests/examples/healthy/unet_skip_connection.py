import torch
from torch import nn
torch.manual_seed(0)
class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 2, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(2, 1, 2, stride=2)
        self.last = nn.Conv2d(2, 1, 1)
    def forward(self, x):
        d = torch.relu(self.down(x))
        return self.last(torch.cat([x, self.up(d)], 1))
net = Tiny()
opt = torch.optim.Adam(net.parameters())
x = torch.rand(2, 1, 4, 4)
loss = nn.functional.binary_cross_entropy_with_logits(net(x), (x > 0.5).float())
opt.zero_grad()
loss.backward()
opt.step()
