import torch
import numpy as np

from torch.utils._pytree import tree_map
class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)
    def __init__(self, inner):
        self.inner = inner
    def __repr__(self):
        return f"Wrapped({self.inner})"
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print(func)
        unwrap = lambda t: t.inner if isinstance(t, Wrapped) else t
        wrap = lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t
        return tree_map(wrap, func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))
x = Wrapped(torch.arange(4.0))
y = x * 2 + x
v = y.view(2, 2)
s = v[0].sum()
print(x, y, v, s)
y.add_(1)
leaf = Wrapped(torch.ones(2)).requires_grad_()
(leaf * 3).sum().backward()
print(leaf.grad)
