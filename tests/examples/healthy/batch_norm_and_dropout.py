import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = model(torch.randn(16, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(model[1].running_mean.shape)
