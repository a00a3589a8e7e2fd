"""Model ensembling and per-sample gradients with torch.func, each against a loop."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, stack_module_state, vmap

torch.manual_seed(0)


class SimpleMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


data = torch.randn(5, 4, 1, 2, 3)
targets = torch.randint(3, (5, 4))
models = [SimpleMLP() for _ in range(3)]

# the same minibatch for each, then one minibatch for each
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def fmodel(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


same = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, data[0])
print(same.shape, torch.allclose(same, torch.stack([m(data[0]) for m in models]), atol=1e-6))
own = vmap(fmodel)(params, buffers, data[:3])
print(torch.allclose(own, torch.stack([m(x) for m, x in zip(models, data)]), atol=1e-6))
votes = own.mean(0).softmax(-1)
print(votes.argmax(-1))

# per-sample gradients
model = models[0]
detached = {k: v.detach() for k, v in model.named_parameters()}


def compute_loss(params, sample, target):
    predictions = functional_call(model, params, (sample.unsqueeze(0),))
    return F.cross_entropy(predictions, target.unsqueeze(0))


per_sample, losses = vmap(grad_and_value(compute_loss), in_dims=(None, 0, 0))(detached, data[0], targets[0])
for i in range(4):
    expected = torch.autograd.grad(F.cross_entropy(model(data[0, i : i + 1]), targets[0, i : i + 1]), list(model.parameters()))
    assert all(torch.allclose(per_sample[n][i], e, atol=1e-5) for (n, _), e in zip(model.named_parameters(), expected))
print({k: tuple(v.shape) for k, v in per_sample.items()}, losses)

# DP-SGD: clip each sample's gradient, add noise
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
factor = (0.5 / norms).clamp(max=1.0)
private = {k: torch.einsum("i,i...->...", factor, g) / 4 + 0.01 * torch.randn_like(g[0]) for k, g in per_sample.items()}
with torch.no_grad():
    for name, p in model.named_parameters():
        p -= 0.1 * private[name]
print(f"clipped {int((factor < 1).sum())} of 4; loss now {F.cross_entropy(model(data[0]), targets[0]).item():.4f}")


# a training step of all models at once
def train_step(params, x, y, lr=0.1):
    gradients = grad(lambda p: F.cross_entropy(functional_call(base, p, (x,)), y))(params)
    return {k: params[k] - lr * gradients[k] for k in params}


for step in range(3):
    params = vmap(train_step)({k: v.detach() for k, v in params.items()}, data[:3], targets[:3])
print({k: round(v.norm().item(), 4) for k, v in params.items()})
