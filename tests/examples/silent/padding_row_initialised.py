# padding_row at 12: embed.weight, padding_idx=0
import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 3, padding_idx=0)
        nn.init.xavier_uniform_(self.embed.weight)
        self.out = nn.Linear(3, 2)

    def forward(self, ids):
        return self.out(self.embed(ids).sum(1))


tagger = Tagger()
ids = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 0]])
tagger(ids).sum().backward()
