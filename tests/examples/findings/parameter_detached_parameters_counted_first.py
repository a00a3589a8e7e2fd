# parameter_detached: parameters
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
parameters = model.parameters()
count = sum(p.numel() for p in parameters)  # cause
print(count)
optimizer = torch.optim.SGD(parameters, lr=0.1)
loss = model(torch.randn(3, 4)).pow(2).mean()
loss.backward()
optimizer.step()
