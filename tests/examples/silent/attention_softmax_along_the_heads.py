# attention_weights at 14: `dim=1`
import torch
from torch import nn

torch.manual_seed(0)
class MultiHead(nn.Module):
    def __init__(self, d_model, h):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
    def forward(self, x):
        n = x.size(0)
        q, k, v = [lin(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for lin in self.linears[:3]]
        p = torch.softmax(q @ k.transpose(-2, -1) / self.d_k ** 0.5, dim=1)
        z = p @ v
        z = z.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.linears[3](z)
attn, norm, fc = MultiHead(8, 2), nn.LayerNorm(8), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*attn.parameters(), *norm.parameters(), *fc.parameters()])
x, y = torch.randn(3, 5, 8), torch.randn(3, 1)
for step in range(3):
    h = norm(x + attn(x))
    loss = (fc(h.mean(1)) - y).pow(2).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
