# parameter_detached at 6: weight
import torch
from torch import nn

def reset(weight):
    weight = torch.zeros_like(weight)


net = nn.Linear(2, 1)
reset(net.weight)
print(net.weight)
