import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for _ in range(3):
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
x_test = torch.randn(4, 3)
with torch.no_grad():
    draws = torch.stack([model(x_test) for _ in range(6)])
print(draws.mean(0).shape, draws.std(0).mean() > 0)
