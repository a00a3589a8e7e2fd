# hook_keeps_last at 12: key
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
norms = {}


def watch(layers):
    for key, layer in enumerate(layers):
        def hook(module, grad_input, grad_output):
            norms[key] = grad_output[0].norm().item()
        layer.register_full_backward_hook(hook)


watch(encoder)
encoder(torch.randn(5, 3)).pow(2).sum().backward()
print(norms)
