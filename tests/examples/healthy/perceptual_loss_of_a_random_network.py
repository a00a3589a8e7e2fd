import torch
from torch import nn
torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))
generator = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
optimizer = torch.optim.Adam(generator.parameters(), lr=0.01)
x, target = torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8, 8)
for _ in range(3):
    loss = (features(generator(x)) - features(target)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
