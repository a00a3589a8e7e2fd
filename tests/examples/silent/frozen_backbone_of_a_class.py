# frozen_norm_moves at 25: features, running_mean
import torch
from torch import nn
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3)
        self.norm = nn.BatchNorm2d(3)
    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))).mean(dim=(2, 3))
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = Backbone()
        self.head = nn.Linear(3, 2)
    def forward(self, x):
        return self.head(self.features(x))
torch.manual_seed(0)
model = Classifier()
for p in model.features.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(model.head.parameters(), lr=0.01)
for _ in range(3):
    model.train()
    scores = model(torch.randn(4, 1, 5, 5) + 2)
    loss = nn.functional.cross_entropy(scores, torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
