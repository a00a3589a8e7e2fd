# load_matched_nothing at 7: restored.waves.table, model.waves.table
import torch
from torch import nn
class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.randn(2, 4)
    def forward(self, x):
        return torch.cos(x @ self.table)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.waves, self.out = Waves(), nn.Linear(4, 1)
    def forward(self, x):
        return self.out(self.waves(x))
torch.manual_seed(0)
model, x = Model(), torch.randn(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for k in range(2):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
saved = model.state_dict()
restored = Model()
restored.load_state_dict(saved)
print(restored(x) - model(x))
