"""detach, clone, copy_, data: the article that every learner reads, run line by line."""
import copy

import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = a.detach()
c = a.clone()
d = a.detach().clone()
print(b.requires_grad, c.requires_grad, d.requires_grad, c.grad_fn is not None)
b[0] = 10
print(a, d)
c.sum().backward()
print(a.grad)
e = torch.zeros(3).copy_(a)
print(e.requires_grad, e.grad_fn.name())
f = copy.deepcopy(a)
print(f.is_leaf, f.grad)
a.data[1] = 7
print(a, a._version)
g = torch.tensor(a.detach())
h = a.new_tensor([1, 2])
print(g.requires_grad, h.dtype, torch.empty_like(a).shape)
x = torch.ones(2, requires_grad=True)
y = x * 3
z = y.detach()
(y.sum() + z.sum()).backward()
print(x.grad)
with torch.no_grad():
    w = x * 2
print(w.requires_grad, (x * 2).requires_grad)
