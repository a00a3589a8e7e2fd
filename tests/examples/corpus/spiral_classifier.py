"""The spiral data of a course: data by hand, an MLP, decision grid, confusion matrix."""
import math

import torch
from torch import nn, optim

torch.manual_seed(12)
N, D, C, H = 20, 2, 3, 16
X = torch.zeros(N * C, D)
y = torch.zeros(N * C, dtype=torch.long)
for c in range(C):
    index = 0
    t = torch.linspace(0, 1, N)
    inner_var = torch.linspace((2 * math.pi / C) * c, (2 * math.pi / C) * (2 + c), N) + torch.randn(N) * 0.2
    for ix in range(N * c, N * (c + 1)):
        X[ix] = t[index] * torch.FloatTensor((math.sin(inner_var[index]), math.cos(inner_var[index])))
        y[ix] = c
        index += 1
print("Shapes:", tuple(X.size()), tuple(y.size()))
model = nn.Sequential(nn.Linear(D, H), nn.ReLU(), nn.Linear(H, C))
criterion = torch.nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for t in range(20):
    y_pred = model(X)
    loss = criterion(y_pred, y)
    score, predicted = torch.max(y_pred, 1)
    acc = (y == predicted).sum().float() / len(y)
    if t % 5 == 4:
        print("[EPOCH]: %i, [LOSS]: %.4f, [ACCURACY]: %.3f" % (t, loss.item(), acc))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
confusion = torch.zeros(C, C, dtype=torch.int64)
for t, p in zip(y, model(X).argmax(1)):
    confusion[t, p] += 1
precision = confusion.diag() / confusion.sum(0).clamp(min=1)
print(confusion.sum(), precision.shape)
mesh = torch.stack(torch.meshgrid(torch.arange(-1.0, 1.0, 0.5), torch.arange(-1.0, 1.0, 0.5), indexing="xy"), -1).reshape(-1, 2)
with torch.no_grad():
    print(model(mesh).argmax(1).view(4, 4))
