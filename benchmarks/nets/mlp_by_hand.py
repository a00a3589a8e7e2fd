import torch

torch.manual_seed(0)
W1 = torch.randn(2, 3, requires_grad=True)
b1 = torch.zeros(3, requires_grad=True)
W2 = torch.randn(3, 1, requires_grad=True)
b2 = torch.zeros(1, requires_grad=True)
x = torch.tensor([[0.5, -1.0], [1.0, 2.0]])
target = torch.tensor([[1.0], [0.0]])
for step in range(2):
    hidden = torch.tanh(x @ W1 + b1)
    output = hidden @ W2 + b2
    loss = ((output - target) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (W1, b1, W2, b2):
            p -= 0.1 * p.grad
            p.grad = None
