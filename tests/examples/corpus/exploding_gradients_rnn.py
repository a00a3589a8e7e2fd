"""Vanishing and exploding gradients through time, seen in the norm of the gradient."""
import torch

torch.manual_seed(0)
for scale in (0.5, 1.0, 1.6):
    W = torch.eye(4) * scale
    W.requires_grad_()
    h0 = torch.ones(4, requires_grad=True)
    h = h0
    for t in range(12):
        h = W @ h
    loss = h.sum()
    loss.backward()
    print(scale, f"{h0.grad.norm().item():.4g}", f"{W.grad.norm().item():.4g}")
W = torch.nn.Parameter(torch.randn(4, 4))
h = torch.zeros(4)
norms = []
for t in range(6):
    h = torch.tanh(W @ h + 1)
    h.retain_grad()
    norms.append(h)
norms[-1].sum().backward()
print([round(h.grad.norm().item(), 4) for h in norms])
torch.nn.utils.clip_grad_norm_([W], 0.5)
print(W.grad.norm() <= 0.5 + 1e-6)
