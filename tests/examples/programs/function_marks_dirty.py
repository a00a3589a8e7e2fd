# A custom Function that writes its input in place and says so.
import torch
class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
a = torch.ones(2, requires_grad=True)
b = a * 1
c = AddOne.apply(b)
print(c is b, b, b._version)
c.sum().backward()
print(a.grad)
