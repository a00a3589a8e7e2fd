import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
avg = AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for b in torch.rand(3, 4, 2):
    opt.zero_grad()
    model(b).pow(2).mean().backward()
    opt.step()
    avg.update_parameters(model)
avg.eval()
print(avg(torch.rand(4, 2)))
