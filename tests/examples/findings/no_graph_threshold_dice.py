# no_graph: pred
import torch
from torch import nn
class Dice(nn.Module):
    def forward(self, logits, target):
        pred = (torch.sigmoid(logits) > 0.5).float()  # cause
        inter = (pred * target).sum()
        return 1 - 2 * inter / (pred.sum() + target.sum() + 1e-6)
net = nn.Conv2d(1, 1, 3, padding=1)
img = torch.ones(1, 1, 4, 4)
loss = Dice()(net(img), img)
loss.backward()
