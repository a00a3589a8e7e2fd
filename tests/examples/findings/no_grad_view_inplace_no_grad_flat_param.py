# no_grad_view_inplace: flat
import torch
from torch import nn
layer = nn.Linear(2, 2)
with torch.no_grad():
    flat = layer.weight.view(-1)  # cause
delta = torch.ones(4) * 0.1
flat += delta  # cause
print(layer.weight)
