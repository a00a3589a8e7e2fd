# exceptions that a `with` takes or passes on, in loops, in a finally, at the end of a module
import contextlib
class C:
    def __init__(self, ok): self.ok = ok
    def __enter__(self): return self
    def __exit__(self, *e): return self.ok
for k in range(2):
    with C(True):
        with C(False):
            a = 1
            raise ValueError(k)
    b = 1
for k in range(2):
    try:
        with C(False):
            for j in range(2):
                try:
                    raise KeyError(k)
                finally:
                    c = 2
    except KeyError:
        d = 3
    else:
        d = 4
    finally:
        e = 5
def f():
    try:
        with C(False):
            raise ValueError("x")
    except KeyError:
        pass
    finally:
        with C(True):
            raise KeyError(1)
try:
    f()
except ValueError:
    pass
while True:
    try:
        with C(False):
            break
    finally:
        z = 1
try:
    try:
        1/0
    except ZeroDivisionError:
        raise KeyError(2)
    else:
        q = 1
except KeyError: pass
with C(False):
    try:
        int("x")
    except TypeError:
        u = 1
