import torch

torch.manual_seed(0)

class TopMask(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > x.median()
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, grad, _):
        (mask,) = ctx.saved_tensors
        return grad * mask


x = torch.randn(5, requires_grad=True)
kept, mask = TopMask.apply(x)
kept.sum().backward()
print(x.grad, mask.sum())
