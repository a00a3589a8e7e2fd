import torch, weakref
tell = []
def watched(name, t):
    tell.append(weakref.ref(t, lambda _: print(name, 'died')))
    return t
def f(a):
    b = watched('b', a * 2)
    c = watched('c', b + 1)
    del b
    d = watched('d', torch.zeros(3))
    d = None
    for k in range(2):
        e = watched('e%d' % k, c + k)
    def g():
        return c
    return g
g = f(torch.ones(3))
g()
g = None
print('end')
