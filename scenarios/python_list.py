import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = [nn.Linear(2, 2, bias=False)]
        self.known = nn.ModuleList([nn.Linear(2, 1, bias=False)])
        for layer in [*self.plain, *self.known]:
            nn.init.ones_(layer.weight)

    def forward(self, x):
        return self.known[0](self.plain[0](x))


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
print([name for name, _ in model.named_parameters()])

model(torch.ones(2)).backward()
optimizer.step()
print(model.plain[0].weight.tolist(), model.known[0].weight.tolist())
