# layer_made_each_forward at 9: nn.Conv1d
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv1d(1, 2, 3)
    def forward(self, x):
        outer = nn.Conv1d(2, 1, 1)
        return outer(torch.relu(self.inner(x)))
torch.manual_seed(0)
block = Block()
opt = torch.optim.Adam(block.parameters(), lr=0.01)
for _ in range(4):
    opt.zero_grad()
    loss = block(torch.randn(2, 1, 8)).pow(2).mean()
    loss.backward()
    opt.step()
