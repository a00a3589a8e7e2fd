# leaf_inplace: p
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
def shrink(model, factor=0.9):
    for name, p in model.named_parameters():
        if "weight" in name:
            p *= factor  # cause
    return model
model = shrink(model)
print(model[0].weight)
