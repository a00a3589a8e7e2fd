# view_swaps_axes at 15: `grid`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class PatchEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 32, kernel_size=4, stride=4)
    def forward(self, x):
        grid = self.proj(x)
        B, C, H, W = grid.shape
        return grid.reshape(B, H * W, C)
class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = PatchEmbed()
        self.pos = nn.Parameter(torch.zeros(1, 64, 32))
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 1)
        self.head = nn.Linear(32, 10)
    def forward(self, x):
        return self.head(self.blocks(self.patch(x) + self.pos).mean(1))
net = ViT()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
x, y = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
for step in range(3):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
