# returns within `with` blocks: of generators, over lines, nested, of a class
import contextlib
@contextlib.contextmanager
def m(x):
    try:
        yield x
    finally:
        d = x
def g(x):
    with m(x) as q:
        yield q
        with m(q + 1) as r, m(r) as s:
            return [r, s]
def f(x):
    return (yield from g(x))
def call(x):
    with m([x]) as z:
        return max(
            x,
            len(z))
print(list(f(3)), call(2))
def two(x):
    with m(x):
        with m(x):
            try:
                return x * 2
            finally:
                x = 0
print(two(4))
def cls(x):
    with m(x):
        class A:
            y = 1
        return A
print(cls(2).y)
