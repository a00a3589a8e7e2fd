"""Broadcasting rules, advanced indexing, gather and scatter, where, masked operations."""
import torch

x = torch.arange(3)
y = torch.arange(2).unsqueeze(1)
print(x + y)
print(torch.broadcast_shapes((3, 1, 4), (2, 4)))
try:
    torch.ones(2, 3) + torch.ones(2, 4)
except RuntimeError as error:
    print(error)
a = torch.arange(12.0).reshape(3, 4)
print(a[1], a[:, 1], a[1:, ::2], a[-1, -1], a[..., None].shape)
print(a[[0, 2], [1, 3]], a[a > 6], a[torch.tensor([True, False, True])])
rows = torch.tensor([0, 1, 2])
cols = torch.tensor([3, 0, 2])
print(a[rows, cols], a.gather(1, cols.unsqueeze(1)).squeeze())
onehot = torch.zeros(3, 4).scatter_(1, cols.unsqueeze(1), 1.0)
print(onehot)
print(torch.where(a > 5, a, torch.zeros_like(a)), a.masked_fill(a < 3, -1), torch.masked_select(a, a > 9))
b = a.clone()
b[b > 8] = 0
b[:, 0] = torch.tensor([10.0, 20.0, 30.0])
b[1] += 100
print(b)
print(torch.take(a, torch.tensor([0, 5])), a.index_select(1, torch.tensor([0, 2])), a.nonzero()[:2])
c = torch.zeros(5)
c.index_add_(0, torch.tensor([0, 0, 3]), torch.ones(3))
c.scatter_add_(0, torch.tensor([4, 4]), torch.tensor([1.0, 2.0]))
print(c)
print(torch.cat([a, a], 0).shape, torch.stack([a, a]).shape, [t.shape for t in a.split(2, 1)], [t.shape for t in a.chunk(2, 1)])
d = torch.randn(2, 3, 4)
print(d.permute(2, 0, 1).shape, d.transpose(0, 1).shape, d.flatten(1).shape, d.unsqueeze(0).squeeze().shape, d.movedim(0, -1).shape)
print(a.t().is_contiguous(), a.t().contiguous().stride(), a.view(-1, 2).shape, a.expand(2, 3, 4).stride(), a.repeat(2, 1).shape)
try:
    a.t().view(-1)
except RuntimeError as error:
    print(str(error).split(".")[0])
print(torch.topk(a.flatten(), 3), a.sort(descending=True, dim=1).indices[0], torch.argmax(a, dim=0), a.cumsum(1)[0], a.flip(0)[0])
print(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0], torch.tril(torch.ones(3, 3)), torch.roll(x, 1))
