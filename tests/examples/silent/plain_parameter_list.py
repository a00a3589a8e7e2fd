# parameter_detached at 8: ws
import torch
from torch import nn
class Poly(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.ws = [nn.Parameter(torch.ones(1)) for _ in range(3)]
    def forward(self, x):
        return self.bias + sum(w * x ** k for k, w in enumerate(self.ws, 1))
torch.manual_seed(0)
m = Poly()
opt = torch.optim.Adam(m.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    m(torch.ones(2)).sum().backward()
    opt.step()
print(m.ws)
