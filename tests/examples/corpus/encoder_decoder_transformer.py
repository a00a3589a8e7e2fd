"""nn.Transformer on a copy task, with teacher forcing and greedy decoding."""
import torch
from torch import nn

torch.manual_seed(0)
V, D, L = 7, 8, 4


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.src, self.tgt, self.pos = nn.Embedding(V, D), nn.Embedding(V, D), nn.Embedding(10, D)
        self.transformer = nn.Transformer(D, 2, 1, 1, 16, dropout=0.0, batch_first=True)
        self.out = nn.Linear(D, V)

    def encode(self, s):
        return self.transformer.encoder(self.src(s) + self.pos(torch.arange(s.shape[1])))

    def decode(self, t, memory):
        mask = nn.Transformer.generate_square_subsequent_mask(t.shape[1])
        return self.out(self.transformer.decoder(self.tgt(t) + self.pos(torch.arange(t.shape[1])), memory, tgt_mask=mask))

    def forward(self, s, t):
        return self.decode(t, self.encode(s))


model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(3):
    src = torch.randint(2, V, (6, L))
    tgt = torch.cat([torch.ones(6, 1, dtype=torch.long), src], 1)
    logits = model(src, tgt[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, V), tgt[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
model.eval()
with torch.no_grad():
    memory = model.encode(src[:1])
    ys = torch.ones(1, 1, dtype=torch.long)
    for _ in range(L):
        ys = torch.cat([ys, model.decode(ys, memory)[:, -1:].argmax(-1)], dim=1)
print(ys.shape, sum(p.numel() for p in model.parameters()))
