"""Autograd mechanics as the notes tell them: saved tensors, version counters, in-place errors, hooks for packing."""
import torch

x = torch.randn(5, requires_grad=True)
y = x.pow(2)
print(x.equal(y.grad_fn._saved_self), x is y.grad_fn._saved_self)
y = x.exp()
print(y.equal(y.grad_fn._saved_result), y is y.grad_fn._saved_result)
a = torch.ones(3, requires_grad=True)
b = a * 2
c = b ** 2
print(b._version)
b.add_(1)
print(b._version)
try:
    c.sum().backward()
except RuntimeError as error:
    print(str(error)[:60])
leaf = torch.ones(2, requires_grad=True)
try:
    leaf.add_(1)
except RuntimeError as error:
    print(error)
with torch.no_grad():
    leaf.add_(1)
print(leaf, leaf._version)
packed = []


def pack_hook(t):
    packed.append(tuple(t.shape))
    return t.numpy(force=True).copy()


def unpack_hook(n):
    return torch.from_numpy(n)


with torch.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
    w = torch.randn(3, requires_grad=True)
    z = (w * w).sum()
z.backward()
print(packed, torch.allclose(w.grad, 2 * w.detach()))
with torch.autograd.graph.save_on_cpu():
    q = (w ** 3).sum()
q.backward()
print(torch.allclose(w.grad, (2 * w + 3 * w ** 2).detach()))
with torch.autograd.set_detect_anomaly(False):
    print(torch.is_anomaly_enabled())
m = torch.ones(2, requires_grad=True)
out = m.clone()
out[0] = 0
out.sum().backward()
print(m.grad)
