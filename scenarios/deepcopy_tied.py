import copy

import torch
from torch import nn

model = nn.ModuleDict({"one": nn.Linear(2, 1, bias=False), "two": nn.Linear(2, 1, bias=False)})
nn.init.ones_(model["one"].weight)
model["two"].weight = model["one"].weight

twin = copy.deepcopy(model)
with torch.no_grad():
    twin["one"].weight.zero_()
print(model["two"].weight.tolist(), twin["two"].weight.tolist())
tied = twin["two"].weight is twin["one"].weight and twin["one"].weight is not model["one"].weight
