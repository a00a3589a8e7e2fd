"""Linear attention, chunked softmax attention with running maximum, against the plain one."""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(0)
q, k, v = (torch.randn(6, 4) for _ in range(3))
plain = torch.softmax(q @ k.T / 2, -1) @ v


def online(q, k, v, block=2):
    out = torch.zeros_like(q)
    top = torch.full((len(q), 1), -math.inf)
    total = torch.zeros(len(q), 1)
    for start in range(0, len(k), block):
        kb, vb = k[start:start + block], v[start:start + block]
        scores = q @ kb.T / math.sqrt(q.shape[1])
        new_top = torch.maximum(top, scores.max(1, keepdim=True).values)
        weights = torch.exp(scores - new_top)
        correction = torch.exp(top - new_top)
        total = total * correction + weights.sum(1, keepdim=True)
        out = out * correction + weights @ vb
        top = new_top
    return out / total


print(torch.allclose(online(q, k, v), plain, atol=1e-6), torch.allclose(F.scaled_dot_product_attention(q, k, v), plain, atol=1e-6))
phi = lambda x: F.elu(x) + 1
linear = (phi(q) @ (phi(k).T @ v)) / (phi(q) @ phi(k).sum(0, keepdim=True).T)
quadratic = (phi(q) @ phi(k).T)
print(torch.allclose(linear, quadratic / quadratic.sum(1, keepdim=True) @ v, atol=1e-5))
S, z, outs = torch.zeros(4, 4), torch.zeros(4), []
for t in range(6):
    S = S + torch.outer(phi(k[t]), v[t])
    z = z + phi(k[t])
    outs.append(phi(q[t]) @ S / (phi(q[t]) @ z))
causal = quadratic.tril()
print(torch.allclose(torch.stack(outs), causal / causal.sum(1, keepdim=True) @ v, atol=1e-5))
