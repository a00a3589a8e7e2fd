import torch, weakref
x = torch.rand(3, requires_grad=True)
class Packed:
    def __init__(self, t):
        self.t = t
refs = []
def pack(t):
    p = Packed(t.clone())
    refs.append(weakref.ref(p, lambda _: print('packed died')))
    return p
with torch.autograd.graph.saved_tensors_hooks(pack, lambda p: p.t):
    y = x.exp() * x.sin()
z = y.sum()
z.backward(retain_graph=True)
z.backward()
del z
del y
with torch.autograd.graph.save_on_cpu():
    u = x.cos().exp()
u.sum().backward()
u = None
a = x * 2
b = a.exp()
b.mul_(2)
try:
    b.sum().backward()
except RuntimeError:
    print('stale')
b = None
a = None
p = x.tanh()
q = p.detach()
p = None
q.add_(1)
q = None
