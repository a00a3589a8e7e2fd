import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 8))

    def forward_once(self, image):
        return F.normalize(self.body(image), dim=1)

    def forward(self, a, b):
        return self.forward_once(a), self.forward_once(b)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        distance = F.pairwise_distance(a, b)
        return (same * distance.pow(2) + (1 - same) * F.relu(self.margin - distance).pow(2)).mean()


net, criterion = Siamese(), ContrastiveLoss()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    left, right, same = torch.randn(3, 1, 8, 8), torch.randn(3, 1, 8, 8), torch.tensor([1.0, 0.0, 1.0])
    loss = criterion(*net(left, right), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
