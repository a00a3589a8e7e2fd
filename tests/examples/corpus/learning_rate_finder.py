"""The learning-rate finder: raise the rate, watch the loss, restore the weights."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(32, 3), torch.randn(32, 1)
saved = copy.deepcopy(model.state_dict())
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
lrs, losses, best = [], [], float("inf")
for step in range(12):
    lr = 1e-4 * (10.0 / 1e-4) ** (step / 11)
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    lrs.append(lr)
    losses.append(loss.item())
    best = min(best, loss.item())
    if loss.item() > 4 * best:
        print("diverged at", f"{lr:.3g}")
        break
model.load_state_dict(saved)
slopes = [b - a for a, b in zip(losses, losses[1:])]
print(len(losses), f"{lrs[min(range(len(slopes)), key=slopes.__getitem__)]:.3g}")
print(torch.equal(model[0].weight, saved["0.weight"]), model[0].weight.data_ptr() == saved["0.weight"].data_ptr())
