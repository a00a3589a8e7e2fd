import torch
from torch import nn

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, ids):
        return self.out(self.emb(ids))


model = LM(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ids = torch.randint(0, 6, (3, 5))
for _ in range(2):
    loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
