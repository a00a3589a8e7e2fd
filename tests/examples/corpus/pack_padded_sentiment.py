"""Sentiment with a packed LSTM: a vocabulary, bucketed batches, a custom sampler and a confusion matrix."""

import random
from collections import Counter, OrderedDict

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler, random_split

SEED = 1234
random.seed(SEED)
torch.manual_seed(SEED)

good, bad = ["great", "lovely", "fun", "brilliant"], ["awful", "boring", "bad", "dull"]
filler = "the a film movie was plot acting and very quite".split()


def make_review():
    label = random.randint(0, 1)
    words = random.choices(filler, k=random.randint(2, 6)) + random.choices(good if label else bad, k=2)
    random.shuffle(words)
    return " ".join(words), label


class Vocabulary:
    def __init__(self, texts, min_freq=1):
        counter = Counter(w for t in texts for w in t.split())
        ordered = OrderedDict(sorted(counter.items(), key=lambda kv: (-kv[1], kv[0])))
        self.itos = ["<pad>", "<unk>"] + [w for w, n in ordered.items() if n >= min_freq]
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def __call__(self, text):
        return [self.stoi.get(w, 1) for w in text.split()]


class Reviews(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.vocab = Vocabulary(t for t, _ in rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return torch.tensor(self.vocab(text)), label


class BucketSampler(Sampler):
    """Batches of similar length."""

    def __init__(self, subset, batch_size):
        self.lengths = [len(subset[i][0]) for i in range(len(subset))]
        self.batch_size = batch_size

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda i: (self.lengths[i], random.random()))
        batches = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        random.shuffle(batches)
        yield from batches

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)


def collate(batch):
    sequences, labels = zip(*batch)
    return pad_sequence(sequences, batch_first=True), torch.tensor([len(s) for s in sequences]), torch.tensor(labels).float()


class Classifier(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 8, padding_idx=0)
        self.rnn = nn.LSTM(8, 8, num_layers=2, dropout=0.2, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(16, 1)

    def forward(self, text, lengths):
        embedded = self.dropout(self.embedding(text))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed_output, (hidden, cell) = self.rnn(packed)
        output, output_lengths = pad_packed_sequence(packed_output, batch_first=True)
        assert torch.equal(output_lengths, lengths)
        return self.fc(self.dropout(torch.cat((hidden[-2], hidden[-1]), dim=1))).squeeze(1)


dataset = Reviews([make_review() for _ in range(40)])
train_set, test_set = random_split(dataset, [0.8, 0.2], generator=torch.Generator().manual_seed(SEED))
train_loader = DataLoader(train_set, batch_sampler=BucketSampler(train_set, 8), collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=8, collate_fn=collate)
print(len(dataset.vocab), "words;", len(train_set), "for training,", len(test_set), "for tests;", len(train_loader), "batches")

model = Classifier(len(dataset.vocab))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(2):
    model.train()
    epoch_loss = epoch_acc = 0.0
    for text, lengths, labels in train_loader:
        optimizer.zero_grad()
        predictions = model(text, lengths)
        loss = criterion(predictions, labels)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
        epoch_acc += ((predictions > 0) == labels.bool()).float().mean().item()
    print(f"Epoch {epoch + 1:02} | loss {epoch_loss / len(train_loader):.3f} | acc {epoch_acc / len(train_loader) * 100:.1f}%")

model.eval()
confusion = torch.zeros(2, 2, dtype=torch.long)
with torch.inference_mode():
    for text, lengths, labels in test_loader:
        predicted = (model(text, lengths) > 0).long()
        confusion.index_put_((labels.long(), predicted), torch.ones_like(predicted), accumulate=True)
    sentence = torch.tensor([dataset.vocab("the movie was unbelievably lovely")])
    probability = torch.sigmoid(model(sentence, torch.tensor([sentence.size(1)])))
print(confusion, f"{probability.item():.3f}")
