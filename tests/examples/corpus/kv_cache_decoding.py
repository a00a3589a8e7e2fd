"""Autoregressive decoding with a key-value cache gives the same logits as without; sampling strategies."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
            cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Decoder(nn.Module):
    def __init__(self, vocab=9, dim=8, heads=2):
        super().__init__()
        self.embed, self.attn, self.norm, self.head = nn.Embedding(vocab, dim), CausalSelfAttention(dim, heads), nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, idx, cache=None):
        x = self.embed(idx)
        return self.head(self.norm(x + self.attn(x, cache)))


def top_k_top_p(logits, k=0, p=1.0):
    if k:
        logits = logits.masked_fill(logits < torch.topk(logits, k).values[..., -1:], -torch.inf)
    ordered, index = torch.sort(logits, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return logits.masked_fill(remove.scatter(-1, index, remove), -torch.inf)


torch.manual_seed(0)
model = Decoder().eval()
prompt = torch.tensor([[1, 4, 2]])
with torch.inference_mode():
    full = model(prompt)
    cache, steps = {}, []
    for t in range(3):
        steps.append(model(prompt[:, t:t + 1], cache))
    print(torch.allclose(full, torch.cat(steps, 1), atol=1e-6), cache["k"].shape)
    idx = prompt
    for _ in range(3):
        logits = model(idx[:, -1:], cache)[:, -1] / 0.8
        probs = top_k_top_p(logits, k=4, p=0.9).softmax(-1)
        idx = torch.cat([idx, torch.multinomial(probs, 1)], 1)
    print(idx, idx.is_inference(), model.head.weight is model.embed.weight)
