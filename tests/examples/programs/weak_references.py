# A weak reference does not keep a tensor; a graph does.
import gc
import weakref
import torch
x = torch.ones(2)
gone = weakref.ref(x)
del x
gc.collect()
print(gone())
a = torch.ones(2, requires_grad=True)
b = a * 2
kept = weakref.ref(b)
c = b * b
del b
print(kept() is not None, c.grad_fn._saved_self is kept())
