# view_swaps_axes at 20: `out`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
class FCN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, classes, 1))
    def forward(self, x):
        return self.body(x)
model = FCN(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images, masks = torch.randn(2, 3, 8, 8), torch.randint(0, 5, (2, 8, 8))
criterion = nn.CrossEntropyLoss()
for step in range(3):
    out = model(images)
    loss = criterion(out.view(-1, 5), masks.view(-1))

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
