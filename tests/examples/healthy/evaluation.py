import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
X, Y = torch.randn(12, 2), torch.randint(0, 2, (12,))
for epoch in range(3):
    model.train()
    loss = nn.functional.cross_entropy(model(X), Y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(X).argmax(1) == Y).float().mean()
    print(epoch, accuracy.item())
