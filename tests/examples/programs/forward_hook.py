# A module's forward hook sees input and output, and may replace the output.
import torch
from torch import nn
layer = nn.Linear(1, 1)
nn.init.constant_(layer.weight, 2.0)
nn.init.zeros_(layer.bias)
def watch(module, inputs, output):
    print(type(module).__name__, inputs[0].shape, output)
    return output * 4
handle = layer.register_forward_hook(watch)
out = layer(torch.ones(1, 1))
handle.remove()
print(out, layer(torch.ones(1, 1)))
