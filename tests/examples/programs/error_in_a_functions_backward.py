# A custom Function's backward raises; what ran before it stays.
import torch
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        half = grad / 2
        raise ArithmeticError("on the way back")
x = torch.ones(2, requires_grad=True)
Broken.apply(x).sum().backward()
