"""A character model with an LSTM that keeps its state, and five ways to choose the next letter."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "hello world, hello torch. the world of tensors is small. " * 2
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
print(len(text), "characters,", len(chars), "kinds")


class CharLSTM(nn.Module):
    def __init__(self, n, embed=8, hidden=16, layers=2):
        super().__init__()
        self.embed = nn.Embedding(n, embed)
        self.lstm = nn.LSTM(embed, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, n)
        self.hidden, self.layers = hidden, layers

    def init_state(self, batch):
        weight = next(self.parameters())
        return tuple(weight.new_zeros(self.layers, batch, self.hidden) for _ in range(2))

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state


BATCH, SEQ = 4, 6
n = (len(data) - 1) // (BATCH * SEQ) * SEQ
inputs = data[: BATCH * n].view(BATCH, n)
targets = data[1 : BATCH * n + 1].view(BATCH, n)
model = CharLSTM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(2):
    state = model.init_state(BATCH)
    total = 0.0
    for i in range(0, n, SEQ):
        state = tuple(s.detach() for s in state)
        logits, state = model(inputs[:, i : i + SEQ], state)
        loss = F.cross_entropy(logits.reshape(-1, len(chars)), targets[:, i : i + SEQ].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5)
        optimizer.step()
        total += loss.item()
    mean = total / (n // SEQ)
    print(f"epoch {epoch} loss {mean:.4f} perplexity {math.exp(mean):.2f}")


def top_k(logits, k):
    values, _ = logits.topk(k)
    return logits.masked_fill(logits < values[-1], float("-inf"))


def top_p(logits, p):
    ordered, index = logits.sort(descending=True)
    beyond = ordered.softmax(-1).cumsum(-1) > p
    beyond[1:] = beyond[:-1].clone()
    beyond[0] = False
    return logits.masked_fill(torch.zeros_like(beyond).scatter(0, index, beyond), float("-inf"))


@torch.no_grad()
def generate(prompt, choose, length=8):
    model.eval()
    state = model.init_state(1)
    for c in prompt[:-1]:
        _, state = model(torch.tensor([[stoi[c]]]), state)
    out, last = list(prompt), stoi[prompt[-1]]
    for _ in range(length):
        logits, state = model(torch.tensor([[last]]), state)
        last = choose(logits[0, -1])
        out.append(chars[last])
    return "".join(out)


def draw(logits):
    return int(torch.multinomial(logits.softmax(-1), 1))


print(repr(generate("he", lambda l: int(l.argmax()))))
print(repr(generate("he", draw)))
print(repr(generate("he", lambda l: draw(l / 0.5))))
print(repr(generate("he", lambda l: draw(top_k(l, 3)))))
print(repr(generate("he", lambda l: draw(top_p(l, 0.8)))))
probe = torch.tensor([4.0, 3.0, 1.0, 0.0])
print(top_k(probe, 2), top_p(probe, 0.9))
