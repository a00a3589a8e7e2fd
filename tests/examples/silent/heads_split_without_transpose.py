# view_swaps_axes at 12: view
import torch
from torch import nn

torch.manual_seed(0)
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, 2, T, 4)
        k = self.k(x).view(B, 2, T, 4)
        v = self.v(x).view(B, 2, T, 4)
        w = (q @ k.transpose(-1, -2) / 2).softmax(-1)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, C))
attn, fc = Attn(), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*attn.parameters(), *fc.parameters()])
x, y = torch.randn(3, 5, 8), torch.tensor([0, 1, 1])
for step in range(3):
    loss = nn.functional.cross_entropy(fc(attn(x)[:, 0]), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
