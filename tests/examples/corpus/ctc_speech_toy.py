"""A speech recogniser in small: CTC loss, greedy decoding and edit distance."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
LETTERS = "-abcd"  # blank first


class TextTransform:
    def __init__(self):
        self.char_map = {c: i for i, c in enumerate(LETTERS)}
        self.index_map = dict(enumerate(LETTERS))

    def text_to_int(self, text):
        return [self.char_map[c] for c in text]

    def int_to_text(self, labels):
        return "".join(self.index_map[i] for i in labels)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (ca != cb))
    return row[-1]


transform = TextTransform()
prototypes = torch.randn(len(LETTERS), 6)


def utter(text):
    frames = []
    for c in text:
        for _ in range(int(torch.randint(2, 4, ()))):
            frames.append(prototypes[transform.char_map[c]] + 0.1 * torch.randn(6))
        frames.append(prototypes[0] + 0.1 * torch.randn(6))
    return torch.stack(frames)


def collate(texts):
    spectrograms = [utter(t) for t in texts]
    labels = [torch.tensor(transform.text_to_int(t)) for t in texts]
    input_lengths = torch.tensor([len(s) for s in spectrograms])
    label_lengths = torch.tensor([len(l) for l in labels])
    spectrograms = nn.utils.rnn.pad_sequence(spectrograms, batch_first=True)
    return spectrograms, nn.utils.rnn.pad_sequence(labels, batch_first=True), input_lengths, label_lengths


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(6, 12, 3, padding=1)
        self.norm = nn.LayerNorm(12)
        self.rnn = nn.LSTM(12, 8, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(16, len(LETTERS))

    def forward(self, x):
        x = self.conv(x.transpose(1, 2)).transpose(1, 2)
        x, _ = self.rnn(F.gelu(self.norm(x)))
        return self.fc(x)


def greedy_decode(log_probs, lengths, blank=0):
    texts = []
    for row, length in zip(log_probs.argmax(2), lengths):
        collapsed = torch.unique_consecutive(row[:length])
        texts.append(transform.int_to_text([int(i) for i in collapsed if i != blank]))
    return texts


model = Recogniser()
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=8)
texts = ["abc", "dad", "cab", "bad"]
for step in range(8):
    x, y, input_lengths, label_lengths = collate(texts)
    log_probs = F.log_softmax(model(x), dim=2)
    loss = criterion(log_probs.transpose(0, 1), y, input_lengths, label_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(f"{step} loss {loss.item():.4f} lr {optimizer.param_groups[0]['lr']:.4f}")

model.eval()
with torch.no_grad():
    x, y, input_lengths, _ = collate(texts)
    for text, decoded in zip(texts, greedy_decode(F.log_softmax(model(x), 2), input_lengths)):
        print(f"{text} -> {decoded!r}, CER {levenshtein(text, decoded) / len(text):.2f}")
