import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, T, D, HEADS, LAYERS = 17, 5, 8, 2, 4


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.register_buffer("bias", torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(self, x):
        B, t, C = x.shape
        q, k, v = self.c_attn(x).split(D, dim=2)
        q, k, v = (part.view(B, t, HEADS, C // HEADS).transpose(1, 2) for part in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, t, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(D), CausalSelfAttention(), nn.LayerNorm(D)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(D, 4 * D), "act": nn.GELU(), "c_proj": nn.Linear(4 * D, D)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        m = self.mlp
        return x + m["c_proj"](m["act"](m["c_fc"](self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(VOCAB, D),
                "wpe": nn.Embedding(T, D),
                "h": nn.ModuleList(Block() for _ in range(LAYERS)),
            }
        )
        self.ln_f, self.lm_head = nn.LayerNorm(D), nn.Linear(D, VOCAB, bias=False)

    def forward(self, idx, targets):
        x = self.transformer["wte"](idx) + self.transformer["wpe"](torch.arange(idx.size(1)))
        for block in self.transformer["h"]:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1))


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(2):
    xb = torch.randint(0, VOCAB, (2, T))
    logits, loss = model(xb, xb.roll(-1, 1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
