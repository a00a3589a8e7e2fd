# backward_not_derivative at 15: ExpMinusOne
import torch


class ExpMinusOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        grown = x.exp()
        ctx.save_for_backward(grown)
        return grown - 1

    @staticmethod
    def backward(ctx, grad):
        grown, = ctx.saved_tensors
        return grad * grown


x = torch.tensor([0.5, 1.0], requires_grad=True)
y = ExpMinusOne.apply(x).sum()
slope, = torch.autograd.grad(y, x, create_graph=True)
curvature, = torch.autograd.grad(slope.sum() + 0 * x.sum(), x, materialize_grads=True)
print(slope, curvature)
