"""Normalisation layers by hand: batch, layer, instance, group and RMS norm against those of torch."""
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(4, 6, 5, 5)
bn = nn.BatchNorm2d(6)
manual = (x - x.mean((0, 2, 3), keepdim=True)) / torch.sqrt(x.var((0, 2, 3), unbiased=False, keepdim=True) + bn.eps)
print("batch", torch.allclose(bn(x), manual, atol=1e-5), bn.num_batches_tracked.item())
print(torch.allclose(bn.running_mean, 0.1 * x.mean((0, 2, 3)), atol=1e-6))
ln = nn.LayerNorm([6, 5, 5])
manual = (x - x.mean((1, 2, 3), keepdim=True)) / torch.sqrt(x.var((1, 2, 3), unbiased=False, keepdim=True) + ln.eps)
print("layer", torch.allclose(ln(x), manual, atol=1e-5))
inorm = nn.InstanceNorm2d(6)
manual = (x - x.mean((2, 3), keepdim=True)) / torch.sqrt(x.var((2, 3), unbiased=False, keepdim=True) + inorm.eps)
print("instance", torch.allclose(inorm(x), manual, atol=1e-5))
gn = nn.GroupNorm(3, 6)
grouped = x.view(4, 3, -1)
manual = ((grouped - grouped.mean(-1, keepdim=True)) / torch.sqrt(grouped.var(-1, unbiased=False, keepdim=True) + gn.eps)).view_as(x)
print("group", torch.allclose(gn(x), manual, atol=1e-5))


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return norm.type_as(x) * self.weight


h = torch.randn(2, 3, 8)
print("rms", torch.allclose(RMSNorm(8)(h), nn.RMSNorm(8, eps=1e-6)(h), atol=1e-6))
bn.eval()
before = bn.running_mean.clone()
bn(x)
print(torch.equal(before, bn.running_mean))
v = torch.randn(3, 4, requires_grad=True)
g = torch.ones(3, 1, requires_grad=True)
w = g * v / v.norm(dim=1, keepdim=True)
w.sum().backward()
print((v.grad * v).sum(1).abs() < 1e-5, g.grad.shape)
