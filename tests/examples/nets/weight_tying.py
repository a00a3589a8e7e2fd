import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(12, 6), nn.GRU(6, 6, num_layers=2, batch_first=True)
        self.drop, self.out = nn.Dropout(0.2), nn.Linear(6, 12)
        self.out.weight = self.embed.weight

    def forward(self, words):
        h, _ = self.rnn(self.drop(self.embed(words)))
        return self.out(self.drop(h))


model = LanguageModel()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
words = torch.randint(0, 12, (2, 5))
for _ in range(2):
    loss = F.cross_entropy(model(words[:, :-1]).transpose(1, 2), words[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
