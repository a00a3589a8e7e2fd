# attention_weights at 19: `p`, `valid`
import torch
from torch import nn

torch.manual_seed(2)
class Attn(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(dim, heads, dim // heads) * 0.2)
        self.wk = nn.Parameter(torch.randn(dim, heads, dim // heads) * 0.2)
        self.wv = nn.Parameter(torch.randn(dim, heads, dim // heads) * 0.2)
    def forward(self, x, lengths):
        q = torch.einsum('btd,dhe->bhte', x, self.wq)
        k = torch.einsum('btd,dhe->bhte', x, self.wk)
        v = torch.einsum('btd,dhe->bhte', x, self.wv)
        s = torch.einsum('bhqe,bhke->bhqk', q, k)
        p = s.softmax(-1)
        valid = torch.arange(x.shape[1])[None, :] < lengths[:, None]
        p = torch.where(valid[:, None, None, :], p, torch.zeros_like(p))
        return torch.einsum('bhqk,bhke->bqhe', p, v).flatten(2)
attn, out = Attn(6, 2), nn.Linear(6, 1)
optimizer = torch.optim.Adam(list(attn.parameters()) + list(out.parameters()))
x, y, lengths = torch.randn(3, 4, 6), torch.randn(3), torch.tensor([4, 2, 3])
for step in range(3):
    h = attn(x, lengths)
    loss = ((out(h[:, 0]).squeeze(-1) - y) ** 2).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
