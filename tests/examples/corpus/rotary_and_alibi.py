"""Rotary position embeddings, ALiBi slopes and sliding windows."""
import math

import torch


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end, dtype=torch.float32)
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


torch.manual_seed(0)
q, k = torch.randn(1, 5, 2, 4, requires_grad=True), torch.randn(1, 5, 2, 4)
freqs = precompute_freqs_cis(4, 5)
rq, rk = apply_rotary_emb(q, k, freqs)
print(rq.shape, torch.allclose(rq.norm(dim=-1), q.norm(dim=-1), atol=1e-5))
rq.pow(2).sum().backward()
print(torch.allclose(q.grad, 2 * q.detach(), atol=1e-5))
same = torch.randn(4)
a, b = apply_rotary_emb(same.expand(1, 5, 1, 4), same.expand(1, 5, 1, 4), freqs)
dots = torch.einsum("bihd,bjhd->ij", a, b)
print(torch.allclose(dots.diagonal(1), dots.diagonal(1)[0].expand(4), atol=1e-4))


def alibi_slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start ** i for i in range(n)]


bias = torch.tensor(alibi_slopes(4)).view(4, 1, 1) * (torch.arange(5)[None, :] - torch.arange(5)[:, None]).clamp(max=0)
print(bias[0])
window = torch.ones(6, 6).tril() * torch.ones(6, 6).triu(-2)
print(window)
scores = torch.zeros(6, 6).masked_fill(window == 0, float("-inf")).softmax(-1)
print(scores[5])
