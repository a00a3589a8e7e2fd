import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
model[2] = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.randn(5, 2)).pow(2).mean()
loss.backward()
optimizer.step()
model[2] = nn.Linear(4, 5)
optimizer.add_param_group({"params": model[2].parameters()})
optimizer.zero_grad()
model(torch.randn(5, 2)).pow(2).mean().backward()
optimizer.step()
