# parameter_detached at 9: heads
import torch
from torch import nn

class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.heads = {"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)}

    def forward(self, x):
        return self.heads["a"](self.body(x))

m = Multi()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m(torch.ones(1, 2)).sum().backward()
opt.step()
print(len(list(m.parameters())))
