# A Sequential has a length, an order and a printed form.
import torch
from torch import nn
stack = nn.Sequential(nn.Flatten(), nn.Linear(4, 2, bias=False), nn.ReLU())
with torch.no_grad():
    stack[1].weight.copy_(torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, -1.0]]))
print(stack, len(stack))
print(stack(torch.arange(4.0).view(1, 2, 2) + 1))
