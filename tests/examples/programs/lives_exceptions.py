import torch, weakref, sys
tell = []
def watched(name, t):
    tell.append(weakref.ref(t, lambda _: print(name, 'died')))
    return t
def f():
    a = watched('a', torch.ones(2))
    b = watched('b', a.view(3))
try:
    f()
except RuntimeError as error:
    print('caught')
print('after')
try:
    f()
except RuntimeError as error:
    kept = error
print('kept')
kept = None
def g():
    c = watched('c', torch.ones(2))
    try:
        d = watched('d', torch.zeros(1))
        1 / 0
    except ZeroDivisionError:
        e = watched('e', torch.zeros(1))
        raise ValueError('x')
    finally:
        print('finally')
try:
    g()
except ValueError as error:
    print(type(error.__context__))
print('over')
def h():
    for k in range(3):
        try:
            z = watched('z%d' % k, torch.ones(1))
            if k == 1:
                continue
            raise KeyError(k)
        except KeyError:
            pass
        finally:
            del z
h()
class Context:
    def __enter__(self):
        self.t = watched('held', torch.ones(1))
        return self.t
    def __exit__(self, *error):
        self.t = None
        return True
with Context() as t:
    del t
    raise RuntimeError
print('swallowed')
