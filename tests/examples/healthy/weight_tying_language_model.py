import torch
from torch import nn
class LM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])
torch.manual_seed(0)
lm = LM(7, 3)
opt = torch.optim.Adam(lm.parameters(), lr=0.01)
tokens = torch.randint(0, 7, (2, 5))
for _ in range(2):
    logits = lm(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 7), tokens[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
