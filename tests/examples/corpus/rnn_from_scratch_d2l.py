"""An RNN from scratch: one-hot inputs, state, gradient clipping, perplexity, detach between batches."""
import math

import torch
import torch.nn.functional as F

text = "the time machine by h g wells"
vocab = sorted(set(text))
index = {c: i for i, c in enumerate(vocab)}
corpus = torch.tensor([index[c] for c in text])
num_hiddens, size = 8, len(vocab)
torch.manual_seed(0)


def get_params(vocab_size, num_hiddens):
    def normal(shape):
        return torch.randn(size=shape) * 0.1
    W_xh, W_hh, b_h = normal((vocab_size, num_hiddens)), normal((num_hiddens, num_hiddens)), torch.zeros(num_hiddens)
    W_hq, b_q = normal((num_hiddens, vocab_size)), torch.zeros(vocab_size)
    params = [W_xh, W_hh, b_h, W_hq, b_q]
    for param in params:
        param.requires_grad_(True)
    return params


def rnn(inputs, state, params):
    W_xh, W_hh, b_h, W_hq, b_q = params
    H, = state
    outputs = []
    for X in inputs:
        H = torch.tanh(torch.mm(X, W_xh) + torch.mm(H, W_hh) + b_h)
        outputs.append(torch.mm(H, W_hq) + b_q)
    return torch.cat(outputs, dim=0), (H,)


def grad_clipping(params, theta):
    norm = torch.sqrt(sum(torch.sum((p.grad ** 2)) for p in params))
    if norm > theta:
        for param in params:
            param.grad[:] *= theta / norm


params = get_params(size, num_hiddens)
for epoch in range(2):
    state = (torch.zeros((1, num_hiddens)),)
    total, count = 0.0, 0
    for start in range(0, len(corpus) - 5, 5):
        for s in state:
            s.detach_()
        X = F.one_hot(corpus[start:start + 5], size).float().unsqueeze(1)
        Y = corpus[start + 1:start + 6]
        y_hat, state = rnn(X, state, params)
        l = F.cross_entropy(y_hat, Y)
        l.backward()
        grad_clipping(params, 1)
        with torch.no_grad():
            for p in params:
                p -= 1.0 * p.grad
                p.grad.zero_()
        total, count = total + l.item() * len(Y), count + len(Y)
    print(f"epoch {epoch}, perplexity {math.exp(total / count):.2f}")


def predict(prefix, num_preds):
    state = (torch.zeros((1, num_hiddens)),)
    outputs = [index[prefix[0]]]
    get_input = lambda: F.one_hot(torch.tensor([outputs[-1]]), size).float().unsqueeze(0)
    for y in prefix[1:]:
        _, state = rnn(get_input(), state, params)
        outputs.append(index[y])
    for _ in range(num_preds):
        y, state = rnn(get_input(), state, params)
        outputs.append(int(y.argmax(dim=1).reshape(1)))
    return "".join(vocab[i] for i in outputs)


print(predict("time", 5))
