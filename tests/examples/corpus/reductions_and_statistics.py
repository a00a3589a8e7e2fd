"""Means, variances, norms, running statistics, covariance, and their gradients."""
import torch

torch.manual_seed(0)
x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
print(x.mean(), x.mean(0).shape, x.std(1, unbiased=False).shape, torch.std_mean(x)[1] == x.mean())
g, = torch.autograd.grad(x.var(), x)
print(torch.allclose(g, 2 * (x - x.mean()).detach() / 11))
print(x.norm(), x.norm(p=1, dim=1).shape, torch.linalg.vector_norm(x, ord=float("inf")))
print(torch.logsumexp(x, 1).shape, x.prod().shape, x.cumprod(0)[-1].allclose(x.prod(0)), x.nansum())
print(torch.cov(x.T.detach()).shape, torch.corrcoef(x.T.detach()).diagonal())
mean, m2, count = torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64), 0
for row in x.detach():
    count += 1
    delta = row - mean
    mean += delta / count
    m2 += delta * (row - mean)
print(torch.allclose(mean, x.mean(0).detach()), torch.allclose(m2 / (count - 1), x.var(0).detach()))
y = torch.tensor([1.0, float("nan"), 3.0])
print(y.sum(), y.nansum(), y.nanmean(), torch.isnan(y).sum(), y.nan_to_num(0.0), torch.isfinite(y))
print(torch.diff(torch.tensor([1, 4, 9])), torch.gradient(torch.tensor([1.0, 4.0, 9.0]))[0], x.detach().flatten()[:3].renorm(2, 0, 0.5).norm() <= 0.9)
