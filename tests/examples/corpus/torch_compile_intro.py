"""torch.compile: a function, a module, a training step."""
import torch
from torch import nn


def foo(x, y):
    a = torch.sin(x)
    b = torch.cos(y)
    return a + b


torch.manual_seed(0)
opt_foo1 = torch.compile(foo)
x, y = torch.randn(4, 4), torch.randn(4, 4)
print(torch.allclose(opt_foo1(x, y), foo(x, y)))


@torch.compile
def opt_foo2(x, y):
    return torch.relu(x) * y


print(opt_foo2(x, y).shape)


class MyModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x):
        return nn.functional.relu(self.lin(x))


mod = MyModule()
opt_mod = torch.compile(mod, mode="reduce-overhead")
print(opt_mod(x).shape)
optimizer = torch.optim.Adam(mod.parameters())
for _ in range(2):
    optimizer.zero_grad()
    loss = opt_mod(x).sum()
    loss.backward()
    optimizer.step()
print(mod.lin.weight.grad.shape)
