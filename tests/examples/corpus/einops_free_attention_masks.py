"""Masks in attention: padding, causal, boolean and additive, key_padding_mask of nn.MultiheadAttention."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(2, 4, 8)
lengths = torch.tensor([4, 2])
padding = torch.arange(4)[None, :] >= lengths[:, None]
print(padding)
mha = nn.MultiheadAttention(8, 2, batch_first=True)
out, weights = mha(x, x, x, key_padding_mask=padding)
print(weights[1, 0], weights.sum(-1)[0])
causal = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
out, weights = mha(x, x, x, attn_mask=causal, average_attn_weights=False)
print(weights.shape, weights[0, 0].triu(1).sum())
additive = torch.zeros(4, 4).masked_fill(causal, float("-inf"))
a = F.scaled_dot_product_attention(x, x, x, attn_mask=~causal)
b = F.scaled_dot_product_attention(x, x, x, attn_mask=additive)
c = F.scaled_dot_product_attention(x, x, x, is_causal=True)
print(torch.allclose(a, b, atol=1e-6), torch.allclose(b, c, atol=1e-6))
scores = x @ x.transpose(1, 2) / 8 ** 0.5
manual = scores.masked_fill(padding[:, None, :], float("-inf")).softmax(-1) @ x
print(torch.allclose(manual, F.scaled_dot_product_attention(x, x, x, attn_mask=~padding[:, None, :]), atol=1e-5))
layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
y = layer(x, x, tgt_mask=causal, memory_key_padding_mask=padding, tgt_is_causal=True)
y.sum().backward()
print(y.shape, layer.self_attn.in_proj_weight.grad.shape)
full_row = torch.full((2, 2), float("-inf")).softmax(-1)
print(full_row, torch.nan_to_num(full_row))
