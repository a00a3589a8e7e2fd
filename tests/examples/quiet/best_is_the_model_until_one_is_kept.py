import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 3)
y = x.sum(1, keepdim=True)
best_loss, best_model, best_state = float("inf"), model, model.state_dict()
for epoch in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(x), y).item()
    if loss < best_loss:
        best_loss, best_model = loss, copy.deepcopy(model)
        best_state = copy.deepcopy(model.state_dict())
with torch.no_grad():
    print(best_loss, nn.functional.mse_loss(best_model(x), y).item())
model.load_state_dict(best_state)
