import torch
from torch import nn

layer = nn.Linear(2, 1, bias=False)
before = layer.weight
saved = {"weight": torch.tensor([[1.0, 2.0]])}

layer.load_state_dict(saved)
saved["weight"][0, 0] = 8.0

print(layer.weight is before)
print(layer.weight.tolist())
copied = layer.weight[0, 0].item() == 1.0
