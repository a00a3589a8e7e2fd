import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.tensor([0, 1] * 4)
def run(train):
    model.train(train)
    with torch.set_grad_enabled(train):
        loss = nn.functional.cross_entropy(model(x), y)
    if train:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
for epoch in range(3):
    print(run(True), run(False))
