import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class LinearAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = [t.view(b, n, self.h, -1).transpose(1, 2) for t in (q, k, v)]
        q, k = q.softmax(dim=-1), k.softmax(dim=-2)
        context = k.transpose(-1, -2) @ v
        return self.out((q @ context).transpose(1, 2).reshape(b, n, d))
attn, fc = LinearAttention(8, 2), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*attn.parameters(), *fc.parameters()])
x, y = torch.randn(3, 6, 8), torch.tensor([0, 1, 1])
for step in range(2):
    loss = F.cross_entropy(fc(attn(x).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
