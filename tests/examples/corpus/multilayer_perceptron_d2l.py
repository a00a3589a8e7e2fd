"""A multilayer perceptron from scratch with nn.Parameter and a ReLU of one's own."""
import torch
from torch import nn

torch.manual_seed(0)
num_inputs, num_outputs, num_hiddens = 16, 4, 10
W1 = nn.Parameter(torch.randn(num_inputs, num_hiddens, requires_grad=True) * 0.1)
b1 = nn.Parameter(torch.zeros(num_hiddens, requires_grad=True))
W2 = nn.Parameter(torch.randn(num_hiddens, num_outputs, requires_grad=True) * 0.1)
b2 = nn.Parameter(torch.zeros(num_outputs, requires_grad=True))
params = [W1, b1, W2, b2]


def relu(X):
    a = torch.zeros_like(X)
    return torch.max(X, a)


def net(X):
    X = X.reshape((-1, num_inputs))
    H = relu(X @ W1 + b1)
    return H @ W2 + b2


y = torch.arange(24) % 4
X = torch.randn(24, 1, 4, 4) + y.view(-1, 1, 1, 1) * 0.5
loss = nn.CrossEntropyLoss(reduction="none")
updater = torch.optim.SGD(params, lr=0.5)
for epoch in range(4):
    l = loss(net(X), y)
    updater.zero_grad()
    l.mean().backward()
    updater.step()
    print(epoch, f"{l.mean().item():.4f}", (net(X).argmax(1) == y).sum().item())
print([p.is_leaf for p in params], W1.grad_fn)
