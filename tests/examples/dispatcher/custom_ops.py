import torch
import numpy as np

@torch.library.custom_op("mine::scaled_sin", mutates_args=())
def scaled_sin(x: torch.Tensor, k: float) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()) * np.float32(k))
@scaled_sin.register_fake
def _(x, k):
    return torch.empty_like(x)
def setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.k = inputs[1]
def backward(ctx, g):
    x, = ctx.saved_tensors
    return g * x.cos() * ctx.k, None
scaled_sin.register_autograd(backward, setup_context=setup)
x = torch.arange(3.0, requires_grad=True)
y = scaled_sin(x, 2.0)
y.sum().backward()
print(y, x.grad, torch.ops.mine.scaled_sin(x, 3.0))
@torch.library.custom_op("mine::add_one_", mutates_args={"x"})
def add_one_(x: torch.Tensor) -> None:
    x.add_(1)
z = torch.zeros(2)
add_one_(z)
print(z, z._version)
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    print(torch.ops.mine.scaled_sin(torch.ones(2), 1.0).shape)
print(torch.library.opcheck(scaled_sin, (torch.ones(2), 1.0), test_utils=("test_schema", "test_faketensor")))
