"""Logistic regression by Newton's method with the Hessian of torch.func, and by LBFGS."""
import torch
from torch.func import grad, hessian

torch.manual_seed(0)
X = torch.cat([torch.randn(30, 2, dtype=torch.float64), torch.ones(30, 1, dtype=torch.float64)], 1)
true = torch.tensor([1.5, -1.0, 0.3], dtype=torch.float64)
y = (torch.rand(30, dtype=torch.float64) < torch.sigmoid(X @ true)).double()


def loss(w):
    z = X @ w
    return torch.nn.functional.binary_cross_entropy_with_logits(z, y) + 0.01 * w @ w


w = torch.zeros(3, dtype=torch.float64)
for i in range(5):
    g, H = grad(loss)(w), hessian(loss)(w)
    w = w - torch.linalg.solve(H, g)
    print(i, f"{loss(w).item():.6f}", f"{g.norm().item():.2e}"[:4])
v = torch.zeros(3, dtype=torch.float64, requires_grad=True)
opt = torch.optim.LBFGS([v], line_search_fn="strong_wolfe", max_iter=20)


def closure():
    opt.zero_grad()
    l = loss(v)
    l.backward()
    return l


opt.step(closure)
print(torch.allclose(v.detach(), w, atol=1e-3), torch.linalg.eigvalsh(hessian(loss)(w)).min() > 0)
