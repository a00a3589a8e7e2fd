# saved_overwritten: D
import torch
torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)
y = torch.randn(3)
cost = (x[:, None] - y[None, :]) ** 2
D = torch.zeros(4, 4)
for i in range(1, 4):
    for j in range(1, 4):
        best = torch.logsumexp(D[i - 1:i + 1, j - 1:j + 1].reshape(-1), 0)
        D[i, j] = cost[i - 1, j - 1] * best.exp() * D[i - 1, j]  # cause
D[3, 3].backward()
