import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.1), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(5):
    model.train()
    if epoch >= 2:
        for module in model.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.eval()
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print((model(x) - y).pow(2).mean().item())
