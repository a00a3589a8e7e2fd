"""word2vec with negative sampling, subsampling of frequent words and nearest neighbours."""

from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
np.random.seed(0)

corpus = """the quick brown fox jumps over the lazy dog the dog barks at the fox
the king rules the land and the queen rules the land with the king
a cat and a dog play in the garden of the king""".lower().split()

counts = Counter(corpus)
vocab = sorted(counts, key=lambda w: (-counts[w], w))
word_to_ix = {w: i for i, w in enumerate(vocab)}
frequencies = np.array([counts[w] for w in vocab], dtype=np.float64)
keep = np.minimum(1.0, np.sqrt(0.05 / (frequencies / frequencies.sum())))
tokens = [word_to_ix[w] for w in corpus if np.random.rand() < keep[word_to_ix[w]]]
noise = torch.from_numpy(frequencies**0.75)
noise = (noise / noise.sum()).float()
print(len(corpus), "words,", len(vocab), "kinds,", len(tokens), "after subsampling")


class SkipGrams(Dataset):
    def __init__(self, tokens, window):
        self.pairs = [
            (tokens[i], tokens[j])
            for i in range(len(tokens))
            for j in range(max(0, i - window), min(len(tokens), i + window + 1))
            if i != j
        ]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


class SkipGramNeg(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.center = nn.Embedding(n, dim)
        self.context = nn.Embedding(n, dim)
        nn.init.uniform_(self.center.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.context.weight)

    def forward(self, center, positive, negative):
        v = self.center(center)
        u = self.context(positive)
        n = self.context(negative)
        good = F.logsigmoid((v * u).sum(-1))
        bad = F.logsigmoid(-torch.bmm(n, v.unsqueeze(2)).squeeze(2)).sum(-1)
        return -(good + bad).mean()


model = SkipGramNeg(len(vocab), 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
loader = DataLoader(SkipGrams(tokens, 2), batch_size=32, shuffle=True)
for epoch in range(3):
    losses = []
    for center, positive in loader:
        negative = torch.multinomial(noise, len(center) * 4, replacement=True).view(len(center), 4)
        loss = model(center, positive, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {np.mean(losses):.4f}")

vectors = F.normalize(model.center.weight.detach(), dim=1)


def nearest(word, k=3):
    similarity = vectors @ vectors[word_to_ix[word]]
    values, indices = similarity.topk(k + 1)
    return [(vocab[i], round(v, 2)) for v, i in zip(values.tolist(), indices.tolist()) if vocab[i] != word][:k]


print(nearest("king"))
print(nearest("dog"))
analogy = vectors[word_to_ix["queen"]] - vectors[word_to_ix["king"]] + vectors[word_to_ix["dog"]]
print(vocab[int((vectors @ analogy).argmax())])
