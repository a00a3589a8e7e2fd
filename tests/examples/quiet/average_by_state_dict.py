import copy
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
average = copy.deepcopy(model).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = (model(torch.randn(5, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    current = model.state_dict()
    for key, value in average.state_dict().items():
        if value.dtype.is_floating_point:
            value *= 0.9
            value += 0.1 * current[key].detach()
print(average(torch.ones(1, 3)))
