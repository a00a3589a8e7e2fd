import torch
import numpy as np

from torch.func import grad, vmap, jacrev
class Cube(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 3 * x ** 2 * g
x = torch.arange(3.0)
print(grad(lambda x: Cube.apply(x).sum())(x), vmap(grad(Cube.apply))(x), jacrev(Cube.apply)(x), vmap(Cube.apply)(x))
