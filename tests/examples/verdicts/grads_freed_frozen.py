import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
for parameter in model.parameters():
    parameter.requires_grad = False
output = model(torch.tensor([[1.0, -1.0]]))
output.sum().backward()
