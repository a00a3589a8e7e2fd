# padding_takes_part at 16: padding
import torch
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8, padding_idx=0)
        self.cell = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 2)

    def forward(self, tokens):
        _, last = self.cell(self.embed(tokens))
        return self.out(last[0])


reader = Reader()
opt = torch.optim.Adam(reader.parameters(), lr=1e-2)
tokens = torch.tensor([[4, 9, 2, 7, 5], [3, 8, 6, 0, 0], [1, 2, 0, 0, 0]])
labels = torch.tensor([0, 1, 0])
for _ in range(3):
    loss = nn.functional.cross_entropy(reader(tokens), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
