# grad_none at 9: pred, loss
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randint(0, 2, (12,))
for epoch in range(4):
    pred = model(x).argmax(dim=1)
    loss = (pred != y).float().mean()
    loss.requires_grad = True
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss)
