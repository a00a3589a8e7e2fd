import torch
from torch import nn

relu = nn.ReLU(inplace=True)


def report(module, inputs, output):
    print(inputs[0], output)


relu.register_forward_hook(report)

x = torch.tensor([4.0, -2.0])
y = relu(x)
print(y is x)
