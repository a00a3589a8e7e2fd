"""Gaussian process regression: kernels, Cholesky, marginal likelihood by gradient."""
import torch

torch.manual_seed(0)
X = torch.linspace(0, 1, 8, dtype=torch.float64).unsqueeze(1)
y = torch.sin(6 * X).squeeze() + 0.05 * torch.randn(8, dtype=torch.float64)
log_length, log_var, log_noise = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (-1.0, 0.0, -2.0))


def kernel(a, b):
    return log_var.exp() * torch.exp(-0.5 * torch.cdist(a, b).pow(2) / log_length.exp() ** 2)


def nll():
    K = kernel(X, X) + log_noise.exp() * torch.eye(len(X), dtype=torch.float64)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y.unsqueeze(1), L).squeeze()
    return 0.5 * y @ alpha + L.diagonal().log().sum() + 0.5 * len(X) * torch.log(torch.tensor(2 * torch.pi))


opt = torch.optim.Adam([log_length, log_var, log_noise], lr=0.1)
for step in range(5):
    loss = nll()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
with torch.no_grad():
    Xs = torch.tensor([[0.25], [0.5]], dtype=torch.float64)
    K = kernel(X, X) + log_noise.exp() * torch.eye(len(X), dtype=torch.float64)
    Ks = kernel(X, Xs)
    mean = Ks.T @ torch.linalg.solve(K, y)
    cov = kernel(Xs, Xs) - Ks.T @ torch.linalg.solve(K, Ks)
print(mean.shape, (cov.diagonal() > 0).all(), f"{log_length.exp().item():.3f}")
