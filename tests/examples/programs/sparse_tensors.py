# Sparse COO with a gradient, a sparse embedding gradient, CSR.
import torch
where = torch.tensor([[0, 1], [1, 0]])
s = torch.sparse_coo_tensor(where, torch.tensor([2.0, 4.0]), (2, 2), requires_grad=True)
torch.sparse.mm(s, torch.ones(2, 2)).sum().backward()
print(s.grad)
table = torch.nn.Embedding(3, 2, sparse=True)
torch.nn.init.ones_(table.weight)
table(torch.tensor([2, 2])).sum().backward()
print(table.weight.grad)
csr = torch.eye(2).to_sparse_csr()
print(csr.crow_indices(), csr.values())
