# A custom Function with two tensors, of which one gets no gradient, inside a module.
import torch
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, g):
        ctx.g = g
        return x * g
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.g, None
x = torch.tensor([2.0], requires_grad=True)
g = torch.tensor([4.0], requires_grad=True)
Gate.apply(x, g).backward()
print(x.grad, g.grad)
