# backward_not_derivative at 13: Scale
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0], grad * ctx.saved_tensors[1]


a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([5.0, 7.0], requires_grad=True)
Scale.apply(a, b).sum().backward()
print(a.grad, b.grad)
