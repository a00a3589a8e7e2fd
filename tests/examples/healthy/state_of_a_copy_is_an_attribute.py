import torch
from torch import nn

class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(5, 3)
        self.state = torch.zeros(4, 3)
        self.scale = torch.full((3,), 0.5)
    def forward(self, x):
        self.state = torch.tanh(self.inner(torch.cat([x, self.state.detach()], 1))) * self.scale
        return self.state

torch.manual_seed(0)
cell, slow, out = Cell(), Cell(), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=0.01)
for k in range(4):
    x = torch.randn(4, 2)
    with torch.no_grad():
        wanted = out(slow(x)).detach() * 0.9 + 1
    loss = nn.functional.smooth_l1_loss(out(cell(x)), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if k == 1:
        slow.load_state_dict(cell.state_dict())
