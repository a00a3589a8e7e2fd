import torch
import torch.nn as nn

torch.manual_seed(0)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)

    def forward(self, x):
        h = torch.relu(self.a(x))
        h = self.b(h)
        return x + h


layers = nn.ModuleList(Residual() for _ in range(2))
x = torch.randn(3, 2, requires_grad=True)
h = x
for layer in layers:
    h = layer(h)
loss = h.sum()
loss.backward()
print(x.grad)
