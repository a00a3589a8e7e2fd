# backward_not_derivative at 17: MatMul
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w, x.t() @ grad


torch.manual_seed(0)
x = torch.randn(4, 3)
w = torch.nn.Parameter(torch.randn(3, 3))
h = torch.randn(4, 3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
MatMul.apply(h, w).pow(2).sum().backward()
optimizer.step()
