import torch
import numpy as np
a = torch.arange(6.0)
n = a.numpy()
v = a[2:].view(2, 2)
del a
v = None
m = n[1:]
del n
b = torch.from_numpy(m)
del m
c = b.detach()
d = c.data
b.data = torch.zeros(2)
del c
del d
s = b.untyped_storage()
del b
del s
e = torch.ones(4)
e.resize_(100).zero_()
e.set_(torch.ones(2).untyped_storage())
f = e.expand(3, 2)
del e
f = f.contiguous()
g = f.T
f = g = None
h = torch.ones(3)
k = h.__array__()
h = torch.tensor(k)
k = memoryview(k)
del k
x = [torch.ones(1), {'a': torch.ones(2)}]
y = x
x[1]['a'] = 0
del x
y.clear()
