import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

class Polynomial(nn.Module):
    def __init__(self):
        super().__init__()
        self.coefficients = nn.ParameterList([nn.Parameter(torch.zeros(())) for _ in range(3)])

    def forward(self, x):
        return sum(c * x**k for k, c in enumerate(self.coefficients))


model = Polynomial()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.linspace(-1, 1, 9)
for _ in range(4):
    loss = F.mse_loss(model(x), x**2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([c.item() for c in model.coefficients])
