"""Einsum: every classic, held against the plain operation."""
import torch

torch.manual_seed(0)
a, b = torch.randn(3), torch.randn(4)
A, B = torch.randn(3, 4), torch.randn(4, 5)
X, Y = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
cases = {
    "transpose": (torch.einsum("ij->ji", A), A.T),
    "sum": (torch.einsum("ij->", A), A.sum()),
    "column sum": (torch.einsum("ij->j", A), A.sum(0)),
    "row sum": (torch.einsum("ij->i", A), A.sum(1)),
    "matrix vector": (torch.einsum("ik,k->i", A, b), A @ b),
    "matrix matrix": (torch.einsum("ik,kj->ij", A, B), A @ B),
    "dot": (torch.einsum("i,i->", a, a), a @ a),
    "outer": (torch.einsum("i,j->ij", a, b), torch.outer(a, b)),
    "batch": (torch.einsum("bij,bjk->bik", X, Y), torch.bmm(X, Y)),
    "ellipsis": (torch.einsum("...ij,...jk->...ik", X, Y), X @ Y),
    "hadamard": (torch.einsum("ij,ij->ij", A, A), A * A),
    "trace": (torch.einsum("ii->", A @ A.T), torch.trace(A @ A.T)),
    "diagonal": (torch.einsum("ii->i", A @ A.T), (A @ A.T).diagonal()),
    "bilinear": (torch.einsum("i,ijk,k->j", a, torch.ones(3, 2, 4), b), torch.full((2,), (a.sum() * b.sum()).item())),
}
for name, (mine, plain) in cases.items():
    print(f"{name:15s}", tuple(mine.shape), torch.allclose(mine, plain, atol=1e-5))
q, k, v = (torch.randn(2, 3, 2, 4, requires_grad=True) for _ in range(3))
energy = torch.einsum("nqhd,nkhd->nhqk", [q, k])
attention = torch.softmax(energy / 2, dim=3)
out = torch.einsum("nhql,nlhd->nqhd", [attention, v]).reshape(2, 3, 8)
out.sum().backward()
print(out.shape, v.grad.sum())
