import torch, gc
from torch import nn
gc.disable()
class Node:
    pass
a = Node()
a.self = a
a.t = torch.ones(3)
t = [a.t]
del t
keep = [a.t]
del a
keep.clear()
print(gc.collect() > 0)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dropout())
opt = torch.optim.Adam(net.parameters())
x = torch.randn(4, 2)
for k in range(2):
    opt.zero_grad()
    loss = net(x).square().sum()
    loss.backward()
    opt.step()
opt.zero_grad(set_to_none=False)
net[0] = nn.Linear(2, 3)
net.double()
del opt
state = net.state_dict()
net = None
state = None
gc.collect()
with torch.no_grad():
    y = x * 2
    y.add_(1)
from torch.utils.checkpoint import checkpoint
w = torch.ones(2, requires_grad=True)
c = checkpoint(lambda u: u.exp().sin(), w, use_reentrant=False)
c.sum().backward()
c = None
r = checkpoint(lambda u: u.exp().sin(), w, use_reentrant=True)
r.sum().backward()
r = None
w = None
class Loud:
    def __init__(self, t):
        self.t = t
    def __del__(self):
        print('loud', self.t.sum().item())
q = Loud(torch.ones(2))
q = Loud(torch.ones(3))
del q
from torch.func import vmap, grad
print(vmap(grad(lambda z: (z * z).sum()))(torch.ones(2, 2)))
with torch.inference_mode():
    i = torch.ones(2)
    j = i[0]
i = j = None
s = torch.eye(2).to_sparse()
o = s.to_dense()
s = None
