"""Custom Functions that tutorials like: straight-through, gradient reversal, clipping, a ReLU with setup_context."""
import torch
from torch import nn
from torch.autograd import Function


class GradientReversal(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class RoundSTE(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class MyReLU(Function):
    @staticmethod
    def forward(input):
        return input.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


torch.manual_seed(0)
x = torch.randn(3, 4, requires_grad=True)
GradientReversal.apply(x, 0.5).sum().backward()
print(x.grad)
x.grad = None
RoundSTE.apply(x * 2).sum().backward()
print(x.grad)
x.grad = None
MyReLU.apply(x).sum().backward()
print(torch.equal(x.grad, (x > 0).float()))
inp = (torch.randn(5, 4, dtype=torch.double, requires_grad=True), torch.randn(3, 4, dtype=torch.double, requires_grad=True))
print(torch.autograd.gradcheck(LinearFunction.apply, inp, eps=1e-6, atol=1e-4))
layer = nn.Linear(4, 2)
out = LinearFunction.apply(x, layer.weight, layer.bias)
print(torch.allclose(out, layer(x), atol=1e-6), out.grad_fn.name())
out.sum().backward()
print(layer.bias.grad)
