"""Differentiable optimal transport (Sinkhorn) and soft ranking."""
import torch

torch.manual_seed(0)


def sinkhorn(a, b, C, eps=0.1, iterations=20):
    K = torch.exp(-C / eps)
    u, v = torch.ones_like(a), torch.ones_like(b)
    for _ in range(iterations):
        u = a / (K @ v)
        v = b / (K.T @ u)
    P = u[:, None] * K * v[None, :]
    return P, (P * C).sum()


x = torch.randn(4, 2, requires_grad=True)
y = torch.randn(5, 2) + 1
a, b = torch.full((4,), 1 / 4), torch.full((5,), 1 / 5)
for step in range(3):
    P, cost = sinkhorn(a, b, torch.cdist(x, y) ** 2, eps=0.5)
    g, = torch.autograd.grad(cost, x)
    with torch.no_grad():
        x -= 0.5 * g
    print(step, f"{cost.item():.4f}")
print(torch.allclose(P.sum(1), a, atol=1e-2), torch.allclose(P.sum(0), b, atol=1e-4))


def softsort(s, tau=0.1):
    ordered = s.sort(descending=True).values
    return torch.softmax(-(ordered[:, None] - s[None, :]).abs() / tau, dim=-1)


s = torch.tensor([0.3, 0.9, 0.1], requires_grad=True)
soft = softsort(s)
print(soft.argmax(1), (soft @ s).detach())
(soft @ torch.tensor([1.0, 2.0, 3.0]))[0].backward()
print(s.grad)
