"""A Vision Transformer: patches, class token, position embeddings, encoder blocks."""
import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image=8, patch=4, channels=1, dim=8):
        super().__init__()
        self.proj = nn.Conv2d(channels, dim, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim) * 0.02)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        return torch.cat([cls, x], dim=1) + self.pos_embed


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, dim=8, depth=2, heads=2, classes=3):
        super().__init__()
        self.embed = PatchEmbedding(dim=dim)
        self.blocks = nn.Sequential(*(EncoderBlock(dim, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.embed(x)))[:, 0])


torch.manual_seed(0)
model = ViT()
x, y = torch.randn(4, 1, 8, 8), torch.tensor([0, 1, 2, 1])
opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.05)
for step in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
print(model.embed.cls_token.grad.shape, sum(p.numel() for p in model.parameters()))
