"""Embedding search: normalise, dot, top-k, and an update of a queue."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
words = ["king", "queen", "man", "woman", "apple", "pear"]
vectors = torch.randn(len(words), 5)
vectors[1] = vectors[0] + 0.1 * torch.randn(5)
vectors[5] = vectors[4] + 0.1 * torch.randn(5)
index = {w: i for i, w in enumerate(words)}
unit = F.normalize(vectors, dim=1)


def nearest(query, k=2, exclude=()):
    scores = unit @ F.normalize(query, dim=0)
    scores[[index[w] for w in exclude]] = -1
    values, ids = scores.topk(k)
    return [(words[i], round(v, 3)) for v, i in zip(values.tolist(), ids.tolist())]


print(nearest(vectors[index["king"]], exclude=["king"]))
print(nearest(vectors[index["apple"]], exclude=["apple"]))
print(nearest(vectors[index["king"]] - vectors[index["man"]] + vectors[index["woman"]]))
queue, pointer = torch.zeros(4, 5), 0
for batch in vectors.split(2):
    queue[pointer:pointer + len(batch)] = batch
    pointer = (pointer + len(batch)) % len(queue)
print(pointer, torch.equal(queue[:2], vectors[4:]), (queue @ queue.T).shape)
