# The newer form of a custom Function: forward without ctx, an input that needs no grad.
import torch
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(x, top):
        return x.clamp(max=top)
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.top = inputs
        ctx.save_for_backward(x)
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        print(ctx.needs_input_grad)
        return grad * (x < ctx.top), None
x = torch.tensor([1.0, 4.0], requires_grad=True)
Clipped.apply(x, 2.0).sum().backward()
print(x.grad)
