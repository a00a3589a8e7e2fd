import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters())
X, Y = torch.randn(24, 2), torch.randint(0, 3, (24,))
total = 0.0
for epoch in range(2):
    for i in range(0, 24, 8):
        xb, yb = X[i : i + 8], Y[i : i + 8]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
print(total)
