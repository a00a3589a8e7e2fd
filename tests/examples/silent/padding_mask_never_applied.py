# result_unused at 17: `mask`
import torch
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.embed = nn.Embedding(20, d)
        self.query, self.key = nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, 2)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        mask = (tokens == 0).unsqueeze(1)
        scores = self.query(hidden) @ self.key(hidden).transpose(1, 2) / 8**0.5
        return self.out((scores.softmax(-1) @ hidden).mean(1))


reader = Reader()
opt = torch.optim.Adam(reader.parameters(), lr=1e-2)
tokens = torch.randint(1, 20, (4, 6))
tokens[:, 4:] = 0
labels = torch.randint(0, 2, (4,))
for _ in range(3):
    loss = nn.functional.cross_entropy(reader(tokens), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
