"""Sparse tensors: COO and CSR, coalescing, products, gradients of sparse embeddings."""
import torch

i = [[0, 1, 1], [2, 0, 2]]
v = [3.0, 4.0, 5.0]
s = torch.sparse_coo_tensor(i, v, (2, 3))
print(s)
print(s.to_dense(), s.is_sparse, s.sparse_dim(), s._nnz())
dup = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
print(dup.is_coalesced(), dup.coalesce().values(), dup.coalesce().indices())
d = torch.arange(6.0).view(3, 2)
print(torch.sparse.mm(s, d), s @ d)
print(d.to_sparse().values(), (s + s).to_dense(), (s * 2).coalesce().values())
csr = torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr()
print(csr.crow_indices(), csr.col_indices(), csr.values(), csr @ torch.ones(2))
w = torch.randn(3, 2, requires_grad=True)
out = torch.sparse.mm(s, w)
out.sum().backward()
print(w.grad)
emb = torch.nn.Embedding(5, 2, sparse=True)
loss = emb(torch.tensor([1, 3, 1])).sum()
loss.backward()
g = emb.weight.grad
print(g.is_sparse, g.coalesce().indices(), g.coalesce().values())
opt = torch.optim.SGD(emb.parameters(), lr=0.1)
before = emb.weight.detach().clone()
opt.step()
print((before - emb.weight.detach()).abs().sum(1) > 0)
print(torch.sparse.sum(s, dim=1).to_dense(), torch.sparse.softmax(s, dim=1).to_dense())
