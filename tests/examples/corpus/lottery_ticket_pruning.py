"""Iterative magnitude pruning with rewinding, and torch's own pruning beside it."""

import copy

import torch
import torch.nn.functional as F
import torch.nn.utils.prune as prune
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 6)
y = (x[:, 0] * x[:, 1] > 0).long()


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 16)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def train(model, masks=None, steps=6):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if masks:
            for name, p in model.named_parameters():
                if name in masks:
                    p.grad.mul_(masks[name])
        optimizer.step()
        if masks:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if name in masks:
                        p *= masks[name]
    accuracy = (model(x).argmax(1) == y).float().mean()
    return loss.item(), accuracy.item()


model = MLP()
initial = copy.deepcopy(model.state_dict())
masks = {n: torch.ones_like(p) for n, p in model.named_parameters() if "weight" in n}
for round_ in range(3):
    loss, accuracy = train(model, masks)
    kept = sum(m.sum() for m in masks.values()) / sum(m.numel() for m in masks.values())
    print(f"round {round_}: kept {kept:.1%} loss {loss:.4f} accuracy {accuracy:.3f}")
    weights = torch.cat([p.detach().abs()[masks[n].bool()] for n, p in model.named_parameters() if n in masks])
    threshold = weights.quantile(0.3)
    for n, p in model.named_parameters():
        if n in masks:
            masks[n] = torch.where(p.abs() < threshold, torch.zeros_like(p), masks[n]).detach()
    model.load_state_dict(initial)
    with torch.no_grad():
        for n, p in model.named_parameters():
            p.mul_(masks.get(n, torch.ones(())))

print({n: int(m.sum()) for n, m in masks.items()})

# the same with torch.nn.utils.prune
module = MLP()
parameters = [(module.fc1, "weight"), (module.fc2, "weight")]
prune.global_unstructured(parameters, pruning_method=prune.L1Unstructured, amount=0.4)
print([name for name, _ in module.named_parameters()], [name for name, _ in module.named_buffers()])
for layer, name in parameters:
    zeros = (getattr(layer, name) == 0).float().mean()
    print(f"{zeros:.1%} zeros")
loss = F.cross_entropy(module(x), y)
loss.backward()
print(module.fc1.weight_orig.grad.eq(0).sum() >= (module.fc1.weight_mask == 0).sum())
prune.ln_structured(module.fc1, name="weight", amount=0.25, n=2, dim=0)
print(module.fc1.weight_mask.sum(dim=1))
for layer, name in parameters:
    prune.remove(layer, name)
print(prune.is_pruned(module), sorted(module.state_dict()))


class EveryOther(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


EveryOther.apply(module.fc2, "bias")
print(module.fc2.bias, module.fc2.bias_mask)
