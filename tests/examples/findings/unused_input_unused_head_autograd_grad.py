# unused_input: model
import torch
from torch import nn
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 1)
        self.b = nn.Linear(2, 1)
    def forward(self, x):
        return self.a(x)
model = Two()
loss = model(torch.ones(1, 2)).sum()
grads = torch.autograd.grad(loss, list(model.parameters()))  # cause
print(grads)
