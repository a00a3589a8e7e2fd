import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def double(grad):
    return grad * 2


x = torch.tensor([4.0], requires_grad=True)
y = Square.apply(x)
y.register_hook(double)
y.backward()
