import torch
import torch.nn as nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Linear(2, 3)

    def forward(self, x):
        x = self.conv(x)
        x = self.norm(x)
        x = torch.relu(x)
        x = x.mean(dim=(2, 3))
        return self.head(x)


net = Block()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
images = torch.randn(2, 1, 4, 4)
labels = torch.tensor([0, 2])
out = net(images)
loss = nn.functional.cross_entropy(out, labels)
loss.backward()
opt.step()
opt.zero_grad()
net.eval()
again = net(images)
