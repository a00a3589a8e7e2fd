import torch


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        y = torch.ones_like(a)
        while (y * y - a).abs().max() > 1e-4:
            y = (y + a / y) / 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return grad / (2 * y)


a = torch.tensor([2.0, 9.0], requires_grad=True)
Root.apply(a).sum().backward()
print(a.grad)
