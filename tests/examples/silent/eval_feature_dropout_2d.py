# eval_dropout_active at 10: net, F.dropout2d
import torch
import torch.nn.functional as F
from torch import nn
class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
    def forward(self, x):
        x = F.dropout2d(torch.relu(self.conv(x)), 0.5)
        return x.mean(dim=(2, 3))
torch.manual_seed(0)
net = Segmenter()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(2, 1, 6, 6)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    out = net(torch.ones(1, 1, 6, 6))
print(out)
