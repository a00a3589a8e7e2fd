import copy

import torch
from torch import nn

torch.manual_seed(0)
trained = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 10))
checkpoint = {k: v for k, v in trained.state_dict().items() if not k.startswith("2.")}
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
left = model.load_state_dict(checkpoint, strict=False)
print(left.missing_keys)
best_model, best = copy.deepcopy(model), float("inf")
body, head = model[0], model[2]
optimizer = torch.optim.Adam([{"params": body.parameters(), "lr": 1e-4}, {"params": head.parameters(), "lr": 1e-2}])
x, y = torch.randn(8, 4), torch.arange(8) % 2
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    if loss.item() < best:
        best, best_model = loss.item(), copy.deepcopy(model)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model = best_model
print(model(x).argmax(1))
