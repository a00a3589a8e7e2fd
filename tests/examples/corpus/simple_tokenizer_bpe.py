"""Byte-pair encoding, a vocabulary, and an embedding over it."""
import collections
import re

import torch
from torch import nn

corpus = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
vocab = collections.Counter(" ".join(word) + " </w>" for word in corpus.split())


def get_stats(vocab):
    pairs = collections.defaultdict(int)
    for word, freq in vocab.items():
        symbols = word.split()
        for i in range(len(symbols) - 1):
            pairs[symbols[i], symbols[i + 1]] += freq
    return pairs


def merge_vocab(pair, v_in):
    v_out = {}
    bigram = re.escape(" ".join(pair))
    p = re.compile(r"(?<!\S)" + bigram + r"(?!\S)")
    for word in v_in:
        v_out[p.sub("".join(pair), word)] = v_in[word]
    return v_out


merges = []
for i in range(6):
    pairs = get_stats(vocab)
    best = max(sorted(pairs), key=pairs.get)
    vocab = merge_vocab(best, vocab)
    merges.append(best)
print(merges)
tokens = sorted({t for word in vocab for t in word.split()})
index = {t: i for i, t in enumerate(tokens)}
ids = torch.tensor([index[t] for word in vocab for t in word.split()])
print(ids, len(tokens))
torch.manual_seed(0)
embedding = nn.Embedding(len(tokens), 4)
positions = nn.Embedding(32, 4)
h = embedding(ids) + positions(torch.arange(len(ids)))
h.mean().backward()
print(h.shape, (embedding.weight.grad != 0).any(1).sum())
