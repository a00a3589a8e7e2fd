import torch
import torch.nn as nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm1 = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size, bias=False)
        self.proj = nn.Linear(size, size)
        self.norm2 = nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        att = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
        x = x + self.proj(att @ v)
        x = x + self.mlp(self.norm2(x))
        return x


block = Block(2)
x = torch.randn(1, 3, 2)
out = block(x)
loss = out.square().mean()
loss.backward()
opt = torch.optim.AdamW(block.parameters(), lr=0.01)
opt.step()
