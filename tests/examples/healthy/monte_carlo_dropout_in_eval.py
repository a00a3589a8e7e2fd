import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.drop, self.b = nn.Linear(3, 8), nn.Dropout(0.3), nn.Linear(8, 1)
    def forward(self, x):
        return self.b(self.drop(torch.relu(self.a(x))))
net = Net()
net.eval()
for module in net.modules():
    if module.__class__.__name__.startswith("Dropout"):
        module.train()
with torch.no_grad():
    print(torch.stack([net(torch.ones(1, 3)) for _ in range(4)]).std(0))
