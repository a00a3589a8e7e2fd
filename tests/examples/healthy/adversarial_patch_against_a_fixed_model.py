import torch
from torch import nn
torch.manual_seed(0)
classifier = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
generator = nn.Linear(2, 4)
optimizer = torch.optim.Adam(generator.parameters(), lr=0.01)
for _ in range(3):
    loss = -nn.functional.cross_entropy(classifier(generator(torch.randn(4, 2))), torch.zeros(4, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
