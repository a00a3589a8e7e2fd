"""LoRA put into a small transformer, trained, merged and saved by itself."""

import io
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 2, alpha: float = 4.0, dropout: float = 0.1):
        super().__init__()
        self.base, self.scaling = base, alpha / r
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.dropout = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x):
        out = self.base(x)
        if self.merged:
            return out
        return out + F.linear(F.linear(self.dropout(x), self.A), self.B) * self.scaling

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.base.weight += self.B @ self.A * self.scaling
            self.merged = True


class Block(nn.Module):
    def __init__(self, d=8, heads=2):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        h = self.norm1(x)
        q, k, v = (proj(h).view(b, t, self.heads, -1).transpose(1, 2) for proj in (self.q_proj, self.k_proj, self.v_proj))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o_proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class TinyLM(nn.Module):
    def __init__(self, vocab=12, d=8, layers=2):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(16, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(layers))
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def inject(module, names=("q_proj", "v_proj")):
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear) and name in names:
            setattr(module, name, LoRALinear(child))
        else:
            inject(child, names)


model = TinyLM()
tokens = torch.randint(0, 12, (4, 9))
before = model.eval()(tokens[:, :-1])
for p in model.parameters():
    p.requires_grad_(False)
inject(model)
assert torch.equal(before, model.eval()(tokens[:, :-1]))
trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
total = sum(p.numel() for p in model.parameters())
print(f"trainable {sum(p.numel() for _, p in trainable)} of {total}: {[n for n, _ in trainable][:2]} …")

optimizer = torch.optim.AdamW((p for _, p in trainable), lr=5e-2, weight_decay=0.0)
model.train()
for step in range(6):
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
print(all(p.grad is None for n, p in model.named_parameters() if not p.requires_grad))

adapter = {n: p for n, p in model.state_dict().items() if n.endswith((".A", ".B"))}
buffer = io.BytesIO()
torch.save(adapter, buffer)
buffer.seek(0)
loaded = torch.load(buffer)
print(len(loaded), loaded.keys() == adapter.keys())
model.eval()
unmerged = model(tokens)
for module in model.modules():
    if isinstance(module, LoRALinear):
        module.merge()
print(torch.allclose(unmerged, model(tokens), atol=1e-5))
