from torch import nn


class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        self.layers = nn.ModuleList(layers)  # mistake parameter_detached: self.layers = layers
        self.scale = nn.Parameter(layers[0].weight.detach().mean().reshape(1))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return x * self.scale


def build(sizes):
    return Net(sizes)
