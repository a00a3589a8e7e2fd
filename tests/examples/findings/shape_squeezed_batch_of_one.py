# shape_mismatch: squeeze (1, 3, 1, 1) (3,)
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x):
        x = x.squeeze()  # cause
        return self.fc(x)
net = Net()
images, labels = torch.randn(3, 3, 1, 1), torch.tensor([0, 1, 1])
for i in range(0, 3, 2):
    loss = nn.functional.cross_entropy(net(images[i:i + 2]), labels[i:i + 2])
    loss.backward()
