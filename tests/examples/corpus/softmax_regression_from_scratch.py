"""Softmax regression from scratch with an accumulator class."""
import torch


def softmax(X):
    X_exp = torch.exp(X)
    partition = X_exp.sum(1, keepdim=True)
    return X_exp / partition


torch.manual_seed(0)
X = torch.normal(0, 1, (2, 5))
X_prob = softmax(X)
print(X_prob, X_prob.sum(1))
num_inputs, num_outputs = 6, 3
W = torch.normal(0, 0.01, size=(num_inputs, num_outputs), requires_grad=True)
b = torch.zeros(num_outputs, requires_grad=True)


def net(X):
    return softmax(torch.matmul(X.reshape((-1, W.shape[0])), W) + b)


y = torch.tensor([0, 2])
y_hat = torch.tensor([[0.1, 0.3, 0.6], [0.3, 0.2, 0.5]])
print(y_hat[[0, 1], y])


def cross_entropy(y_hat, y):
    return -torch.log(y_hat[range(len(y_hat)), y])


def accuracy(y_hat, y):
    if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    cmp = y_hat.type(y.dtype) == y
    return float(cmp.type(y.dtype).sum())


class Accumulator:
    def __init__(self, n):
        self.data = [0.0] * n

    def add(self, *args):
        self.data = [a + float(b) for a, b in zip(self.data, args)]

    def __getitem__(self, idx):
        return self.data[idx]


print(cross_entropy(y_hat, y), accuracy(y_hat, y) / len(y))
targets = torch.arange(30) % 3
inputs = torch.randn(30, 2, 3) * 0.3 + targets.view(-1, 1, 1)
for epoch in range(3):
    metric = Accumulator(3)
    for k in range(0, 30, 10):
        xb, yb = inputs[k:k + 10], targets[k:k + 10]
        y_hat = net(xb)
        l = cross_entropy(y_hat, yb)
        l.sum().backward()
        with torch.no_grad():
            for p in (W, b):
                p -= 0.1 * p.grad / len(yb)
                p.grad.zero_()
        metric.add(float(l.sum()), accuracy(y_hat, yb), yb.numel())
    print(f"{metric[0] / metric[2]:.4f} {metric[1] / metric[2]:.3f}")
