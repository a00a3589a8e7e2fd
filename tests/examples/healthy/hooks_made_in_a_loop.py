# hooks of a loop that have their own name: a default, a function that makes the hook, a hook that runs within its round
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
outputs, sizes, seen = {}, {}, []


def keep(name):
    def hook(module, inputs, output):
        sizes[name] = tuple(output.shape)

    return hook


for name, layer in net.named_children():
    layer.register_forward_hook(lambda module, inputs, output, name=name: outputs.update({name: output.detach()}))
    layer.register_forward_hook(keep(name))
for name, layer in net.named_children():
    handle = layer.register_forward_hook(lambda module, inputs, output: seen.append(name))
    net(torch.randn(2, 3))
    handle.remove()
net(torch.randn(2, 3)).sum().backward()
print(list(outputs), sizes, seen)
