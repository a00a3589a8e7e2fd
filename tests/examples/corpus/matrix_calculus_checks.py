"""Checks of matrix calculus: gradients of traces, determinants, softmax, layer norm, against autograd."""
import torch

torch.manual_seed(0)
A = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
B = torch.randn(3, 3, dtype=torch.float64)
checks = {
    "tr(AB)": (lambda A: torch.trace(A @ B), lambda A: B.T),
    "tr(A'A)": (lambda A: torch.trace(A.T @ A), lambda A: 2 * A),
    "log|det A|": (lambda A: torch.linalg.slogdet(A)[1], lambda A: torch.linalg.inv(A).T),
    "|A|_F": (lambda A: A.norm(), lambda A: A / A.norm()),
    "sum exp": (lambda A: A.exp().sum(), lambda A: A.exp()),
    "x'Ax": (lambda A: B[0] @ A @ B[0], lambda A: torch.outer(B[0], B[0])),
    "inv": (lambda A: torch.linalg.inv(A).sum(), lambda A: -torch.linalg.inv(A).T @ torch.ones(3, 3, dtype=torch.float64) @ torch.linalg.inv(A).T),
}
for name, (f, df) in checks.items():
    g, = torch.autograd.grad(f(A), A)
    print(f"{name:12s}", torch.allclose(g, df(A.detach())))
x = torch.randn(4, dtype=torch.float64)
s = torch.softmax(x, 0)
J = torch.autograd.functional.jacobian(lambda v: torch.softmax(v, 0), x)
print(torch.allclose(J, torch.diag(s) - torch.outer(s, s)))
eps = 1e-6
numeric = torch.stack([(torch.sigmoid(x + eps * e) - torch.sigmoid(x - eps * e)).sum() / (2 * eps) for e in torch.eye(4, dtype=torch.float64)])
x.requires_grad_()
torch.sigmoid(x).sum().backward()
print(torch.allclose(numeric, x.grad, atol=1e-6))
h = torch.randn(5, dtype=torch.float64, requires_grad=True)
ln = torch.nn.functional.layer_norm(h, (5,))
g = torch.randn(5, dtype=torch.float64)
ln.backward(g)
xhat = ((h - h.mean()) / (h.var(unbiased=False) + 1e-5).sqrt()).detach()
manual = (g - g.mean() - xhat * (g * xhat).mean()) / (h.detach().var(unbiased=False) + 1e-5).sqrt()
print(torch.allclose(h.grad, manual))
