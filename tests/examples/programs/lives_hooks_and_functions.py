import torch, weakref
tell = []
def watched(name, t):
    tell.append(weakref.ref(t, lambda _: print(name, 'died')))
    return t
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, watched('saved', torch.ones(2)))
        ctx.extra = watched('extra', torch.ones(1))
        return y
    @staticmethod
    def backward(ctx, grad):
        x, one = ctx.saved_tensors
        watched('incoming', grad)
        return watched('outgoing', 2 * x * grad * one)
x = torch.ones(2, requires_grad=True)
m = x * 3
m.register_hook(lambda g: print('hook', watched('seen', g).sum().item()))
y = Square.apply(m)
z = y.sum()
z.backward()
print('through')
del z
del y
del m
w = x.exp()
w.retain_grad()
v = w.sum()
handle = v.register_hook(lambda g: watched('replaced', g * 2))
v.backward()
handle.remove()
del handle
w.grad = None
w = v = None
first, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
second, = torch.autograd.grad(first.sum(), x)
del first
del second
x.grad.zero_()
x.grad = None
x.register_post_accumulate_grad_hook(lambda p: print('accumulated', setattr(p, 'grad', None)))
(x * 2).sum().backward()
