import torch


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


w = torch.tensor([1.25, 2.75], requires_grad=True)
flat = torch.autograd.grad(w.round().sum(), w)
print(flat)

rounded = Round.apply(w)
rounded.sum().backward()
print(w.grad)
