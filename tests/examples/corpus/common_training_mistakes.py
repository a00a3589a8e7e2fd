"""The mistakes of the first week, each with what torch says."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
x, y = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    nn.functional.cross_entropy(model(x), y).backward()
print("no zero_grad:", model.weight.grad.abs().sum() > 0)
attempts = {
    "float labels": lambda: nn.functional.cross_entropy(model(x), y.float()),
    "wrong shape": lambda: model(torch.randn(4, 5)),
    "label out of range": lambda: nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2, 0])),
    "backward twice": lambda: (lambda l: (l.backward(), l.backward()))(model(x).pow(2).sum()),
    "not scalar": lambda: model(x).backward(),
    "numpy of a graph": lambda: model(x).numpy(),
    "no grad": lambda: model(x).detach().sum().backward(),
    "in place on a leaf": lambda: model.weight.add_(1),
    "item of many": lambda: model(x).item(),
    "unknown keys": lambda: model.load_state_dict({"w": torch.ones(1)}),
    "double and float": lambda: model(x.double()),
    "cat of different sizes": lambda: torch.cat([torch.ones(2, 2), torch.ones(3, 3)]),
    "index out of range": lambda: x[7],
    "truth of a tensor": lambda: bool(x > 0),
    "view of a transposed": lambda: x.t().view(12),
    "empty optimizer": lambda: torch.optim.SGD([], lr=0.1),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "went through")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:70]}")
