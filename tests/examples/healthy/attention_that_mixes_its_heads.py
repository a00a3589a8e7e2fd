import torch
from torch import einsum, nn

torch.manual_seed(0)


class TalkingHeads(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.before = nn.Parameter(torch.randn(heads, heads))
        self.after = nn.Parameter(torch.randn(heads, heads))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (each.view(b, n, self.heads, -1).transpose(1, 2) for each in self.to_qkv(x).chunk(3, dim=-1))
        scores = einsum("bhid,bhjd->bhij", q, k) * (d // self.heads) ** -0.5
        scores = einsum("bhij,hg->bgij", scores, self.before)
        weights = scores.softmax(dim=-1)
        weights = einsum("bhij,hg->bgij", weights, self.after)
        mixed = einsum("bhij,bhjd->bhid", weights, v)
        return self.out(mixed.transpose(1, 2).reshape(b, n, d))


net = TalkingHeads(8, 2)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(4, 5, 8), torch.randn(4, 5, 8)
for _ in range(3):
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss.item())
