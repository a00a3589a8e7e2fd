# saved_overwritten: features picture
import torch
from torch import nn

torch.manual_seed(0)
conv = nn.Conv2d(1, 2, 3)
head = nn.Linear(8, 1)
image = torch.randn(1, 1, 4, 4)
features = conv(image).sigmoid()
picture = features.detach()
picture -= picture.min()  # cause
picture /= picture.max()
head(features.flatten(1)).sum().backward()
