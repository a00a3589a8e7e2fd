"""sort, topk, kthvalue, unique, searchsorted, bucketize, histc, median, mode."""
import torch

x = torch.tensor([3.0, 1.0, 2.0, 3.0, 5.0, 1.0])
values, indices = x.sort(stable=True)
print(values, indices, torch.argsort(x, descending=True, stable=True))
print(x.topk(2), x.kthvalue(3), x.median(), x.mode().values)
u, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
print(u, inverse, counts, torch.equal(u[inverse], x))
print(torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1])))
boundaries = torch.tensor([1.0, 2.0, 4.0])
print(torch.searchsorted(boundaries, x), torch.bucketize(x, boundaries, right=True))
print(torch.histc(x, bins=4, min=1, max=5), torch.bincount(x.long()), torch.quantile(x, torch.tensor([0.25, 0.5])))
m = torch.tensor([[3, 1], [2, 5]])
print(m.max(dim=1), m.argmin(), m.amax(0), torch.aminmax(m), m.cummax(1).values, m.any(), m.all())
w = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
w.sort().values[0].backward()
print(w.grad)
w.grad = None
w.topk(2).values.sum().backward()
print(w.grad, torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3])), torch.combinations(torch.arange(3)))
