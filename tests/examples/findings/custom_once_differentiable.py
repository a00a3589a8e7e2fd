# custom_function: Cube
import torch
from torch.autograd import function


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @function.once_differentiable  # cause
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


x = torch.tensor([1.0, 2.0], requires_grad=True)
(slope,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
slope.sum().backward()
