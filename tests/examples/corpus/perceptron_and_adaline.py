"""The perceptron rule and Adaline with plain tensors."""
import torch

torch.manual_seed(0)
X = torch.cat([torch.randn(10, 2) + 2, torch.randn(10, 2) - 2])
y = torch.cat([torch.ones(10), -torch.ones(10)])
w, b = torch.zeros(2), torch.zeros(1)
for epoch in range(3):
    errors = 0
    for xi, target in zip(X, y):
        prediction = torch.where(xi @ w + b >= 0, 1.0, -1.0)
        update = 0.1 * (target - prediction)
        if update.item() != 0:
            w += update * xi
            b += update
            errors += 1
    print(epoch, errors)
print(w, b)
w, b = torch.zeros(2), torch.zeros(())
losses = []
for epoch in range(5):
    output = X @ w + b
    error = y - output
    w += 0.05 * 2 * X.T @ error / len(X)
    b += 0.05 * 2 * error.mean()
    losses.append(round((error ** 2).mean().item(), 4))
print(losses, ((X @ w + b).sign() == y).float().mean().item())
