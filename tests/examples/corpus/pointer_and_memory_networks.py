"""A pointer network that sorts numbers, and an end-to-end memory network that answers questions."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class PointerNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.encoder = nn.LSTM(1, hidden, batch_first=True)
        self.decoder = nn.LSTMCell(1, hidden)
        self.W1 = nn.Linear(hidden, hidden, bias=False)
        self.W2 = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)
        self.start = nn.Parameter(torch.zeros(1))

    def forward(self, x, target=None):
        outputs, (h, c) = self.encoder(x.unsqueeze(-1))
        h, c = h[0], c[0]
        batch, n = x.shape
        token = self.start.expand(batch, 1)
        mask = torch.zeros(batch, n, dtype=torch.bool)
        logits, picks = [], []
        for t in range(n):
            h, c = self.decoder(token, (h, c))
            u = self.v(torch.tanh(self.W1(outputs) + self.W2(h).unsqueeze(1))).squeeze(-1)
            u = u.masked_fill(mask, -1e9)
            logits.append(u)
            pick = target[:, t] if target is not None else u.argmax(1)
            picks.append(pick)
            mask = mask.scatter(1, pick[:, None], True)
            token = x.gather(1, pick[:, None])
        return torch.stack(logits, 1), torch.stack(picks, 1)


net = PointerNet(10)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(6):
    numbers = torch.rand(16, 4)
    order = numbers.argsort(1)
    logits, _ = net(numbers, order)
    loss = F.cross_entropy(logits.flatten(0, 1), order.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    optimizer.step()
    print(step, f"{loss.item():.4f}")
with torch.no_grad():
    numbers = torch.tensor([[0.9, 0.1, 0.5, 0.3]])
    print(net(numbers)[1], numbers.gather(1, net(numbers)[1]))

stories = [
    (["mary went home", "john went school"], "where mary", "home"),
    (["mary went school", "john went home"], "where mary", "school"),
    (["john went park", "mary went home"], "where john", "park"),
    (["john went home", "mary went park"], "where mary", "park"),
]
words = sorted({w for s, q, a in stories for part in (*s, q, a) for w in part.split()})
index = {w: i + 1 for i, w in enumerate(words)}


def encode(text, width=3):
    ids = [index[w] for w in text.split()]
    return ids + [0] * (width - len(ids))


S = torch.tensor([[encode(t) for t in s] for s, _, _ in stories])
Q = torch.tensor([encode(q) for _, q, _ in stories])
A = torch.tensor([index[a] for _, _, a in stories])


class MemN2N(nn.Module):
    def __init__(self, vocab, dim=6, hops=2):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(vocab, dim, padding_idx=0) for _ in range(hops + 1))
        self.temporal = nn.Parameter(torch.randn(2, dim) * 0.1)

    def forward(self, stories, query):
        u = self.embeddings[0](query).sum(1)
        for a, c in zip(self.embeddings, self.embeddings[1:]):
            m = a(stories).sum(2) + self.temporal
            p = torch.softmax(torch.einsum("bmd,bd->bm", m, u), dim=1)
            u = u + torch.einsum("bm,bmd->bd", p, c(stories).sum(2))
        return u @ self.embeddings[-1].weight.t(), p


memory = MemN2N(len(words) + 1)
optimizer = torch.optim.SGD(memory.parameters(), lr=0.3)
for epoch in range(8):
    logits, attention = memory(S, Q)
    loss = F.cross_entropy(logits, A)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f} accuracy {(logits.argmax(1) == A).float().mean().item():.2f}")
print(attention.detach(), memory.embeddings[0].weight.grad[0])
