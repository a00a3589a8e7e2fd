"""Parametrizations: symmetric and skew matrices, the matrix exponential, caching, removal; spectral and weight norm."""
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


class Skew(nn.Module):
    def forward(self, X):
        A = X.triu(1)
        return A - A.transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu(1)


class MatrixExponential(nn.Module):
    def forward(self, X):
        return torch.matrix_exp(X)


torch.manual_seed(0)
layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
A = layer.weight
print(torch.allclose(A, A.T), parametrize.is_parametrized(layer, "weight"))
print(layer)
print(dict(layer.named_parameters()).keys())
print(layer.parametrizations.weight[0])
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
loss = layer(torch.randn(4, 3)).pow(2).mean()
loss.backward()
opt.step()
print(torch.allclose(layer.weight, layer.weight.T))
layer_orthogonal = nn.Linear(3, 3)
parametrize.register_parametrization(layer_orthogonal, "weight", Skew())
parametrize.register_parametrization(layer_orthogonal, "weight", MatrixExponential())
X = layer_orthogonal.weight
print(torch.dist(X.T @ X, torch.eye(3)) < 1e-5)
with parametrize.cached():
    print(layer_orthogonal.weight is layer_orthogonal.weight)
parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
print(list(dict(layer.named_parameters())), torch.allclose(layer.weight, layer.weight.T))
wn = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2), name="weight")
print(wn.parametrizations.weight.original0.shape, wn.parametrizations.weight.original1.shape)
sn = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
for _ in range(5):
    sn(torch.randn(1, 4))
print(f"{torch.linalg.matrix_norm(sn.weight, 2).item():.2f}")
orth = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
print(torch.allclose(orth.weight @ orth.weight.T, torch.eye(3), atol=1e-5))
