"""Sequence to sequence with Luong attention: learn to reverse strings."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

random.seed(0)
torch.manual_seed(0)

PAD, SOS, EOS = 0, 1, 2
ALPHABET = "abcde"
stoi = {ch: i + 3 for i, ch in enumerate(ALPHABET)}
itos = {i: ch for ch, i in stoi.items()}
VOCAB = len(ALPHABET) + 3


def sample_batch(size, longest=5):
    words = ["".join(random.choices(ALPHABET, k=random.randint(2, longest))) for _ in range(size)]
    sources = [torch.tensor([stoi[c] for c in w] + [EOS]) for w in words]
    targets = [torch.tensor([stoi[c] for c in reversed(w)] + [EOS]) for w in words]
    pad = nn.utils.rnn.pad_sequence
    lengths = torch.tensor([len(s) for s in sources])
    return words, pad(sources, batch_first=True), lengths, pad(targets, batch_first=True)


class Encoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, hidden, padding_idx=PAD)
        self.gru = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, hidden)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(x), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, hidden = self.gru(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return self.bridge(outputs), torch.tanh(self.bridge(torch.cat([hidden[0], hidden[1]], dim=1)))[None]


class LuongAttention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.general = nn.Linear(hidden, hidden, bias=False)

    def forward(self, query, keys, mask):
        scores = torch.bmm(query, self.general(keys).transpose(1, 2))
        scores.masked_fill_(~mask[:, None], float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class Decoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, hidden, padding_idx=PAD)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.attention = LuongAttention(hidden)
        self.out = nn.Linear(2 * hidden, VOCAB)

    def step(self, token, hidden, keys, mask):
        output, hidden = self.gru(self.embedding(token), hidden)
        context, weights = self.attention(output, keys, mask)
        return self.out(torch.cat([output, context], dim=-1)), hidden, weights


encoder, decoder = Encoder(12), Decoder(12)
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = optim.AdamW(params, lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)

for iteration in range(8):
    words, source, lengths, target = sample_batch(8)
    keys, hidden = encoder(source, lengths)
    mask = source != PAD
    token = torch.full((len(words), 1), SOS)
    loss = torch.zeros(())
    use_teacher = random.random() < 0.5
    for t in range(target.size(1)):
        logits, hidden, _ = decoder.step(token, hidden, keys, mask)
        loss = loss + criterion(logits.squeeze(1), target[:, t])
        token = target[:, t : t + 1] if use_teacher else logits.argmax(-1).detach()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    print(f"{iteration} {'teacher' if use_teacher else 'free   '} loss {loss.item() / target.size(1):.4f} norm {norm:.3f}")


@torch.no_grad()
def translate(word, limit=8):
    source = torch.tensor([[stoi[c] for c in word] + [EOS]])
    keys, hidden = encoder(source, torch.tensor([source.size(1)]))
    token, letters, rows = torch.tensor([[SOS]]), [], []
    for _ in range(limit):
        logits, hidden, weights = decoder.step(token, hidden, keys, source != PAD)
        token = logits.argmax(-1)
        if token.item() == EOS:
            break
        letters.append(itos.get(token.item(), "?"))
        rows.append(weights[0, 0])
    return "".join(letters), torch.stack(rows) if rows else torch.empty(0, source.size(1))


for word in ("abc", "edcba"):
    text, attention = translate(word)
    print(word, "->", text, attention.shape, attention.sum(-1)[:2])
