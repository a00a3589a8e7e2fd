# wrong_gradient at 13: h, ctx.x, Square
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.x * g
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w * 1; y = Square.apply(h)
h.add_(10)
y.sum().backward()
