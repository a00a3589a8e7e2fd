import torch, weakref
tell = []
def watched(name, t):
    tell.append(weakref.ref(t, lambda _: print(name, 'died')))
    return t
def gen(n):
    kept = watched('kept', torch.zeros(2))
    try:
        for k in range(n):
            x = watched('x%d' % k, kept + k)
            yield x
            x = None
    finally:
        print('closing')
a = gen(3)
p = next(a)
p = next(a)
p = None
a.close()
del a
b = gen(2)
for q in b:
    print(q.sum().item())
q = None
c = gen(5)
next(c)
c = None
def outer():
    y = watched('y', torch.ones(1))
    got = yield from gen(2)
    del y
    yield 1
o = outer()
next(o)
next(o)
next(o)
try:
    o.throw(ValueError('in'))
except ValueError as error:
    print(error)
print(list(watched('t%d' % k, torch.ones(1)).item() for k in range(3)))
