import torch
from torch import nn

torch.manual_seed(0)
images = torch.rand(2, 1, 4, 4)
conv = nn.Conv2d(1, 2, 3)
features = conv(images)
flat = features.flatten(1)
head = nn.Linear(16, 3)
print(head(flat))
