"""A Markov chain of words with a transition matrix and temperature."""
import torch

text = "the cat sat on the mat the dog sat on the log the cat saw the dog".split()
vocab = sorted(set(text))
index = {w: i for i, w in enumerate(vocab)}
T = torch.zeros(len(vocab), len(vocab))
for a, b in zip(text, text[1:]):
    T[index[a], index[b]] += 1
P = (T + 0.01) / (T + 0.01).sum(1, keepdim=True)
print(P.sum(1).allclose(torch.ones(len(vocab))), vocab)


def generate(start, n, temperature, seed):
    g = torch.Generator().manual_seed(seed)
    words, state = [start], index[start]
    for _ in range(n):
        logits = P[state].log() / temperature
        state = torch.multinomial(torch.softmax(logits, 0), 1, generator=g).item()
        words.append(vocab[state])
    return " ".join(words)


print(generate("the", 6, 0.5, 0))
print(generate("cat", 6, 2.0, 1))
stationary = torch.full((len(vocab),), 1 / len(vocab))
for _ in range(20):
    stationary = stationary @ P
print(torch.allclose(stationary @ P, stationary, atol=1e-3), vocab[stationary.argmax()])
values = torch.linalg.eigvals(P).abs()
print(torch.allclose(values.max(), torch.tensor(1.0), atol=1e-4))
