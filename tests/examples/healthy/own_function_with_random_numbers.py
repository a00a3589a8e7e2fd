import torch


class Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        keep = (torch.rand_like(x) > p) / (1 - p)
        ctx.save_for_backward(keep)
        print("called")
        return x * keep

    @staticmethod
    def backward(ctx, grad):
        keep, = ctx.saved_tensors
        return grad * keep, None


torch.manual_seed(0)
x = torch.ones(4, requires_grad=True)
Dropped.apply(x, 0.5).sum().backward()
print(x.grad, torch.rand(1))
