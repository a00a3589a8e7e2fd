import copy

import torch
from torch import nn

torch.manual_seed(0)
pretrained = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
checkpoint = copy.deepcopy(pretrained.state_dict())
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
model.load_state_dict({key: torch.zeros_like(value) for key, value in checkpoint.items()})
model.load_state_dict(checkpoint)
nn.init.xavier_uniform_(model[2].weight)
nn.init.zeros_(model[2].bias)
target = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y) + 0.1 * (model(x) - target(x).detach()).pow(2).mean()
    loss.backward()
    optimizer.step()
    target.load_state_dict(model.state_dict())
model.load_state_dict(model.state_dict())
print(loss.item())
