"""Beam search over a small recurrent decoder."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
V, H, SOS, EOS = 6, 8, 0, 1
embed, cell, out = nn.Embedding(V, H), nn.GRUCell(H, H), nn.Linear(H, V)


@torch.no_grad()
def step(token, hidden):
    hidden = cell(embed(token), hidden)
    return F.log_softmax(out(hidden), dim=-1), hidden


@torch.no_grad()
def greedy(max_len=5):
    token, hidden, seq = torch.tensor([SOS]), torch.zeros(1, H), []
    for _ in range(max_len):
        logp, hidden = step(token, hidden)
        token = logp.argmax(-1)
        seq.append(token.item())
        if token.item() == EOS:
            break
    return seq


def beam_search(k=3, max_len=5):
    beams = [(0.0, [SOS], torch.zeros(1, H))]
    finished = []
    for _ in range(max_len):
        candidates = []
        for score, seq, hidden in beams:
            logp, new_hidden = step(torch.tensor([seq[-1]]), hidden)
            values, indices = logp[0].topk(k)
            for value, index in zip(values.tolist(), indices.tolist()):
                entry = (score + value, seq + [index], new_hidden)
                (finished if index == EOS else candidates).append(entry)
        beams = sorted(candidates, key=lambda b: b[0], reverse=True)[:k]
    best = sorted(finished + beams, key=lambda b: b[0] / len(b[1]), reverse=True)
    return [(round(score, 3), seq) for score, seq, _ in best[:3]]


print(greedy())
for row in beam_search():
    print(row)
