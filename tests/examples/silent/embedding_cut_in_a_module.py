# grad_none at 10: model.embed.weight.grad
import torch
from torch import nn
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.out = nn.Linear(3, 2)
    def forward(self, tokens):
        vectors = self.embed(tokens).detach()
        return self.out(vectors)
torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.tensor([0, 1, 2])), torch.tensor([0, 1, 0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
