import torch
from torch import nn


class Scaled(nn.Module):
    """Its backward is called by the program."""

    def forward(self, x):
        self.x = x
        return x * 2

    def backward(self, grad_output):
        return grad_output * 2


class Passing(nn.Module):
    """Its backward does what autograd does."""

    def forward(self, x):
        return x

    def backward(self, grad_output):
        return grad_output


class Trainer(nn.Module):
    """Its backward takes a loss."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, x):
        return self.net(x)

    def backward(self, loss):
        loss.backward()


torch.manual_seed(0)
scaled, passing, trainer = Scaled(), Passing(), Trainer()
x = torch.randn(6, 3, requires_grad=True)
trainer.backward(trainer(passing(scaled(x))).pow(2).mean())
print(scaled.backward(torch.ones(6, 3)))
