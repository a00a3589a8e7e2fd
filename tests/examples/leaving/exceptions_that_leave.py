# exceptions that leave functions, generators and recursion through `with` and `finally`
import contextlib
class C:
    def __init__(self, ok): self.ok = ok
    def __enter__(self): return self
    def __exit__(self, *e): return self.ok
def f(n):
    try:
        if n == 0: raise ValueError(1)
        with C(False):
            if n == 1: raise KeyError(2)
        with C(True):
            if n == 2:
                raise KeyError(3)
        try:
            if n == 3: raise TypeError(4)
        except KeyError:
            a = 1
        else:
            a = 2
    finally:
        with C(True):
            for k in range(2):
                if k: raise IndexError(5)
    with C(False), C(True), C(False):
        raise KeyError(6)
    return n
for n in range(5):
    try:
        f(n)
    except (ValueError, KeyError) as e:
        del e
    except TypeError:
        try:
            raise
        except TypeError as e:
            pass
        finally:
            b = 3
def g():
    with C(False):
        with C(False):
            yield 1
            yield 2
def h(k):
    it = g()
    next(it)
    if k == 0: it.close()
    elif k == 1:
        try:
            it.throw(ValueError("t"))
        except ValueError:
            c = 1
    else:
        return [x for x in it]
for k in range(3):
    h(k)
def r(n):
    try:
        return r(n - 1) if n else 1 / 0
    finally:
        d = n
try:
    r(3)
except ZeroDivisionError:
    pass
with contextlib.suppress(KeyError):
    with C(False):
        {}[1]
