import torch
from torch import nn

torch.manual_seed(0)
import copy

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, kept = float("inf"), None
for _ in range(3):
    loss = model(torch.ones(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, kept = loss.item(), copy.deepcopy(model.state_dict())
model.load_state_dict(kept)
print(kept["weight"])
