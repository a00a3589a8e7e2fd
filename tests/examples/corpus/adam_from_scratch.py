"""RMSProp, Adagrad and Adam from scratch on a regression."""
import torch

torch.manual_seed(0)
X, w_true = torch.randn(20, 3), torch.tensor([1.0, -2.0, 0.5])
y = X @ w_true


def train(update, steps=6):
    w = torch.zeros(3, requires_grad=True)
    state = {"s": torch.zeros(3), "v": torch.zeros(3), "t": 1}
    for _ in range(steps):
        loss = ((X @ w - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            update(w, w.grad, state)
        w.grad.zero_()
        state["t"] += 1
    return round(loss.item(), 4)


def adagrad(w, g, s, lr=0.5):
    s["s"][:] += g ** 2
    w[:] -= lr * g / torch.sqrt(s["s"] + 1e-6)


def rmsprop(w, g, s, lr=0.1, gamma=0.9):
    s["s"][:] = gamma * s["s"] + (1 - gamma) * torch.square(g)
    w[:] -= lr * g / torch.sqrt(s["s"] + 1e-6)


def adam(w, g, s, lr=0.3, b1=0.9, b2=0.999):
    s["v"][:] = b1 * s["v"] + (1 - b1) * g
    s["s"][:] = b2 * s["s"] + (1 - b2) * torch.square(g)
    v, q = s["v"] / (1 - b1 ** s["t"]), s["s"] / (1 - b2 ** s["t"])
    w[:] -= lr * v / (torch.sqrt(q) + 1e-6)


for rule in (adagrad, rmsprop, adam):
    print(rule.__name__, train(rule))
