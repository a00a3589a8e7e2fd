import torch
import numpy as np

import torch.autograd.forward_ad as fwAD
x, t = torch.arange(3.0), torch.ones(3)
with fwAD.dual_level():
    d = fwAD.make_dual(x, t)
    y = d.sin() * 2
    z = y.view(3, 1)
    z[0] = 5.0
    print(fwAD.unpack_dual(y), fwAD.unpack_dual(z).tangent)
    net = torch.nn.Linear(3, 2)
    for name, p in list(net.named_parameters()):
        delattr(net, name)
        setattr(net, name, fwAD.make_dual(p, torch.ones_like(p)))
    out = net(x)
    print(fwAD.unpack_dual(out).tangent)
print(fwAD.unpack_dual(y) if False else y)
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.k = 2
        return x * 2
    @staticmethod
    def jvp(ctx, g):
        return g * ctx.k
with fwAD.dual_level():
    print(fwAD.unpack_dual(Fn.apply(fwAD.make_dual(x, t))))
