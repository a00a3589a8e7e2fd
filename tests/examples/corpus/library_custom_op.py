"""A custom operator with torch.library: its schema, a fake, a gradient."""
import numpy as np
import torch


@torch.library.custom_op("corpus::numpy_sin", mutates_args=())
def numpy_sin(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.numpy(force=True)))


@numpy_sin.register_fake
def _(x):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def backward(ctx, grad):
    x, = ctx.saved_tensors
    return grad * x.cos()


numpy_sin.register_autograd(backward, setup_context=setup_context)
x = torch.linspace(0, 1, 4, requires_grad=True)
y = numpy_sin(x)
y.sum().backward()
print(torch.allclose(y, x.sin()), torch.allclose(x.grad, x.detach().cos()))
print(torch.ops.corpus.numpy_sin(torch.zeros(2)))
print(torch.library.opcheck is not None, numpy_sin(torch.empty(2, device="meta")).shape)
