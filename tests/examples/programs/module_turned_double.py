# double() keeps the parameters and changes their storages.
import torch
from torch import nn
layer = nn.Linear(2, 1, bias=False)
nn.init.ones_(layer.weight)
before = layer.weight
kept = before.data
layer.double()
kept.zero_()
print(layer.weight is before, layer.weight, kept)
