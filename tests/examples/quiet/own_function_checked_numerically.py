import torch
from torch.autograd import Function, gradcheck as check


class Cube(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a**3

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return 3 * a**2 * g


torch.manual_seed(0)
x = torch.randn(3, dtype=torch.double, requires_grad=True)
print(check(Cube.apply, (x,)))
w = torch.randn(3, requires_grad=True)
Cube.apply(w).sum().backward()
print(w.grad)
