"""vmap: batching dot products, in_dims and out_dims, nesting, randomness."""
import torch
from torch.func import grad, vmap

torch.manual_seed(0)
x, y = torch.randn(3, 5), torch.randn(3, 5)
batched_dot = vmap(torch.dot)
print(torch.allclose(batched_dot(x, y), (x * y).sum(1)))
print(vmap(torch.dot, in_dims=(0, None))(x, y[0]).shape)
print(vmap(lambda a: a * 2, in_dims=1, out_dims=1)(x).shape)


def model(feature_vec, weights):
    return feature_vec.dot(weights).relu()


weights = torch.randn(5, requires_grad=True)
examples = torch.randn(4, 5)
result = vmap(model, in_dims=(0, None))(examples, weights)
print(result.shape, result.requires_grad)
result.sum().backward()
print(weights.grad.shape)
pairwise = vmap(vmap(lambda a, b: (a - b).norm(), in_dims=(None, 0)), in_dims=(0, None))
print(torch.allclose(pairwise(x, y), torch.cdist(x, y), atol=1e-5))
print(vmap(grad(torch.sin))(torch.tensor([0.0, 1.0])))
print(vmap(lambda d: {"sum": d["a"].sum(), "twice": d["a"] * 2})({"a": x})["sum"].shape)
print(vmap(lambda a: a + torch.randn(()), randomness="different")(torch.zeros(3)).unique().numel())
try:
    vmap(lambda a: a if a > 0 else -a)(torch.randn(2))
except RuntimeError as error:
    print(type(error).__name__)
models = [torch.nn.Linear(5, 2) for _ in range(3)]
params, buffers = torch.func.stack_module_state(models)
base = torch.nn.Linear(5, 2).to("meta")
out = vmap(lambda p, b, x: torch.func.functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)
print(out.shape, torch.allclose(out[1], models[1](x), atol=1e-6))
