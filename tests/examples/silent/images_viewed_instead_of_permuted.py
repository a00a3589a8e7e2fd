# view_swaps_axes at 11: images, view
import torch
from torch import nn
torch.manual_seed(0)
conv = nn.Conv2d(3, 4, 3, padding=1)
fc = nn.Linear(4, 2)
optimizer = torch.optim.SGD([*conv.parameters(), *fc.parameters()], lr=0.1)
images = torch.rand(5, 8, 6, 3)
labels = torch.randint(0, 2, (5,))
for epoch in range(3):
    x = images.view(5, 3, 8, 6)
    h = torch.relu(conv(x)).mean(dim=(2, 3))
    loss = nn.functional.cross_entropy(fc(h), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
