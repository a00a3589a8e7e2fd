import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return scale * x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.scale * 3 * x ** 2, None
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda t: Cube.apply(t, 2.0), x))
