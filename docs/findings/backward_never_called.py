# backward_never_called at 12: Reverse
import torch
from torch import nn


class Reverse(nn.Module):
    """Meant to turn the gradient around."""

    def forward(self, x):
        return x

    def backward(self, grad_output):
        return -grad_output


torch.manual_seed(0)
encoder, speaker, reverse = nn.Linear(3, 4), nn.Linear(4, 2), Reverse()
loss = nn.functional.cross_entropy(speaker(reverse(encoder(torch.randn(6, 3)))), torch.tensor([0, 1, 0, 1, 0, 1]))
loss.backward()
print(encoder.weight.grad)
