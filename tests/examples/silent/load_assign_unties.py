# load_matched_nothing at 20: embed, out
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.out = nn.Linear(3, 5, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, ids):
        return self.out(self.embed(ids))


torch.manual_seed(0)
trained = Model()
model = Model()
model.load_state_dict(trained.state_dict(), assign=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.tensor([1, 2])).sum().backward()
optimizer.step()
print(model.embed.weight is model.out.weight)
