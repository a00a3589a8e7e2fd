# not_in_optimizer at 15: center_loss, optimizer
import torch
import torch.nn.functional as F
from torch import nn
class CenterLoss(nn.Module):
    def __init__(self, classes, size):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, size))
    def forward(self, features, labels):
        return (features - self.centers[labels]).pow(2).sum(1).mean()
torch.manual_seed(0)
backbone, classifier = nn.Linear(4, 2), nn.Linear(2, 3)
center_loss = CenterLoss(3, 2)
params = [*backbone.parameters(), *classifier.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
x, y = torch.randn(6, 4), torch.arange(6) % 3
for _ in range(3):
    features = backbone(x)
    loss = F.cross_entropy(classifier(features), y) + 0.1 * center_loss(features, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
