# A frozen parameter gets no grad, what is before it does.
import torch
from torch import nn
first, second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
for layer in (first, second):
    nn.init.constant_(layer.weight, 4.0)
second.requires_grad_(False)
second(first(torch.ones(1))).backward()
print(first.weight.grad, second.weight.grad)
