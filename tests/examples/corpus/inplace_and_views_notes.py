"""Views and in-place operations: which share, which copy, what autograd makes of it."""
import torch

base = torch.arange(6.0)
v = base.view(2, 3)
v[0, 0] = 99
print(base, v._base is base, v.storage_offset(), v.t().stride())
t = base[2:4]
t.mul_(10)
print(base, t.data_ptr() - base.data_ptr())
r = base.reshape(3, 2)
nc = v.t().reshape(-1)
print(r.data_ptr() == base.data_ptr(), nc.data_ptr() == base.data_ptr())
for name, out in {"flatten": v.flatten(), "contiguous": v.contiguous(), "clone": v.clone(), "detach": v.detach(), "expand": base[:1].expand(4), "narrow": base.narrow(0, 1, 2), "index": base[[0, 1]], "unbind": v.unbind()[1], "diagonal": v.diagonal(), "squeeze": v[None].squeeze(0)}.items():
    print(name, out.untyped_storage().data_ptr() == base.untyped_storage().data_ptr(), out._is_view())
w = torch.ones(4, requires_grad=True)
x = w * 1
x[1:3] *= 3
print(x.grad_fn.name(), x)
x.sum().backward()
print(w.grad)
y = w * 1
y.view(2, 2)[0].mul_(5)
y.sum().backward()
print(w.grad)
m = torch.zeros(3, 3)
m.fill_diagonal_(1)
m[m == 0] = -1
m[1].zero_()
print(m, m._version)
try:
    torch.ones(3).expand(2, 3).add_(1)
except RuntimeError as error:
    print(str(error)[:50])
a = torch.ones(2)
b = a
b += 1
c = a
c = c + 1
print(a, b is a, c is a)
