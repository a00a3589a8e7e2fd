import torch
from torch import nn

relu = nn.ReLU(inplace=True)


def report(module, grad_input, grad_output):
    print(grad_output)


x = torch.tensor([4.0, -2.0], requires_grad=True)
relu(x * 2).sum().backward()
print(x.grad)

relu.register_full_backward_hook(report)
relu(x * 2).sum().backward()
