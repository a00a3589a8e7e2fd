"""Data-parallel training without processes: replicas, averaged gradients, federated averaging."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
x, y = torch.randn(8, 3), torch.randn(8, 1)
whole = copy.deepcopy(model)
nn.functional.mse_loss(whole(x), y).backward()
replicas = [copy.deepcopy(model) for _ in range(2)]
for replica, xb, yb in zip(replicas, x.chunk(2), y.chunk(2)):
    nn.functional.mse_loss(replica(xb), yb).backward()
for p, *rs in zip(model.parameters(), *(r.parameters() for r in replicas)):
    p.grad = torch.stack([r.grad for r in rs]).mean(0)
print(all(torch.allclose(p.grad, q.grad, atol=1e-6) for p, q in zip(model.parameters(), whole.parameters())))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.step()


def local_update(global_model, xb, yb, steps=2):
    local = copy.deepcopy(global_model)
    opt = torch.optim.SGD(local.parameters(), lr=0.05)
    for _ in range(steps):
        opt.zero_grad()
        nn.functional.mse_loss(local(xb), yb).backward()
        opt.step()
    return local.state_dict()


for round_ in range(2):
    states = [local_update(model, xb, yb) for xb, yb in zip(x.chunk(4), y.chunk(4))]
    average = {key: torch.stack([s[key] for s in states]).mean(0) for key in states[0]}
    model.load_state_dict(average)
    print(round_, f"{nn.functional.mse_loss(model(x), y).item():.4f}")
