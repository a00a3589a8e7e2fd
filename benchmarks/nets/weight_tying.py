import torch
import torch.nn as nn

torch.manual_seed(0)


class Tied(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.out = nn.Linear(size, words, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        h = self.embed(tokens)
        h = torch.tanh(h)
        return self.out(h)


model = Tied(5, 3)
tokens = torch.tensor([1, 4, 2])
logits = model(tokens)
loss = nn.functional.cross_entropy(logits, torch.tensor([4, 2, 0]))
loss.backward()
opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
opt.step()
