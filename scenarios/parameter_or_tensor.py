import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = nn.Parameter(torch.tensor(2.0))
        self.plain = torch.tensor(4.0, requires_grad=True)

    def forward(self, x):
        return x * self.known * self.plain


model = Scale()
model(torch.tensor(8.0)).backward()
names = [name for name, _ in model.named_parameters()]
print(names)
print(model.known.grad, model.plain.grad)
registered = names == ["known"]
