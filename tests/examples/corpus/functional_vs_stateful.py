"""functional_call, stateless modules, vmap ensembles, parameters as arguments."""
import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
params = dict(model.named_parameters())
x, y = torch.randn(5, 2), torch.randn(5, 1)


def loss_fn(params, x, y):
    return nn.functional.mse_loss(functional_call(model, params, (x,)), y)


detached = {k: v.detach() for k, v in params.items()}
for step in range(3):
    grads, loss = grad_and_value(loss_fn)(detached, x, y)
    detached = {k: detached[k] - 0.1 * grads[k] for k in detached}
    print(step, f"{loss.item():.4f}")
loss = loss_fn(params, x, y)
loss.backward()
g = grad(loss_fn)({k: v.detach() for k, v in params.items()}, x, y)
print(all(torch.allclose(params[k].grad, g[k], atol=1e-6) for k in g))


def init(seed):
    torch.manual_seed(seed)
    return [torch.randn(2, 3) * 0.5, torch.randn(3, 1) * 0.5]


stacks = [torch.stack(p) for p in zip(*(init(s) for s in range(4)))]
predict = lambda w1, w2, x: torch.tanh(x @ w1) @ w2
outs = vmap(predict, in_dims=(0, 0, None))(*stacks, x)
print(outs.shape, torch.allclose(outs[2], predict(stacks[0][2], stacks[1][2], x)))
step = vmap(grad(lambda w1, w2: ((predict(w1, w2, x) - y) ** 2).mean(), argnums=(0, 1)))
new = [s - 0.1 * g for s, g in zip(stacks, step(*stacks))]
print([n.shape for n in new])
