import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

from torch.optim.swa_utils import AveragedModel, SWALR

model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = SWALR(optimizer, swa_lr=0.05)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(4):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    if epoch >= 2:
        average.update_parameters(model)
        schedule.step()
torch.optim.swa_utils.update_bn([x], average)
print(average(x).shape)
