# A class with __enter__ and __exit__ that swallows, and a contextmanager that restores.
import contextlib
import torch
class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, where):
        print("left by", kind and kind.__name__)
        return kind is ValueError
@contextlib.contextmanager
def frozen(x):
    x.requires_grad_(False)
    try:
        yield x
    finally:
        x.requires_grad_(True)
w = torch.ones(1, requires_grad=True)
with Quiet() as q, frozen(w) as inside:
    print(inside.requires_grad)
    raise ValueError
print(w.requires_grad, isinstance(q, Quiet))
