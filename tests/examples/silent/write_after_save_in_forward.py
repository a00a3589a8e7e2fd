# custom_function at 7: x
import torch

class Inc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x += 1
        return x

    @staticmethod
    def backward(ctx, g):
        return g

a = torch.ones(2, requires_grad=True)
b = a * 2
out = Inc.apply(b)
out.sum().backward()
print(a.grad)
