# custom_function at 9: mask
import torch
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = torch.sigmoid(x)
        ctx.save_for_backward(mask)
        out = x * mask
        mask.mul_(0)
        return out
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask
x = torch.ones(3, requires_grad=True)
Gate.apply(x).sum().backward()
print(x.grad)
