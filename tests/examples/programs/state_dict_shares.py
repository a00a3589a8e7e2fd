# state_dict hands out the parameters' own memory.
import torch
from torch import nn
layer = nn.Linear(2, 1, bias=False)
kept = layer.state_dict()
backup = {name: value.clone() for name, value in kept.items()}
kept["weight"].fill_(4)
print(layer.weight)
layer.load_state_dict({"weight": torch.tensor([[1.0, 2.0]])})
setattr(layer, "note", 3)
print(kept, layer.note, getattr(layer, "weight").shape, hasattr(layer, "bias"), list(backup))
