"""PCA by covariance, by SVD and by torch.pca_lowrank; reconstruction and whitening."""
import torch

torch.manual_seed(0)
latent = torch.randn(40, 2, dtype=torch.float64)
mixing = torch.randn(2, 6, dtype=torch.float64)
X = latent @ mixing + 0.01 * torch.randn(40, 6, dtype=torch.float64)
mean = X.mean(0)
C = (X - mean).T @ (X - mean) / (len(X) - 1)
print(torch.allclose(C, torch.cov(X.T)))
values, vectors = torch.linalg.eigh(C)
values, vectors = values.flip(0), vectors.flip(1)
U, S, Vh = torch.linalg.svd(X - mean, full_matrices=False)
print(torch.allclose(S ** 2 / 39, values), torch.allclose(Vh[:2].abs(), vectors[:, :2].T.abs(), atol=1e-6))
explained = values / values.sum()
print((explained.cumsum(0) > 0.99).tolist())
Z = (X - mean) @ vectors[:, :2]
back = Z @ vectors[:, :2].T + mean
print(f"{(X - back).abs().max().item():.2f}", torch.allclose(torch.cov(Z.T), torch.diag(values[:2]), atol=1e-8))
white = Z / values[:2].sqrt()
print(torch.allclose(torch.cov(white.T), torch.eye(2, dtype=torch.float64)))
u, s, v = torch.pca_lowrank(X, q=2)
print(torch.allclose(s ** 2 / 39, values[:2], rtol=1e-2), torch.corrcoef(X.T).shape)
