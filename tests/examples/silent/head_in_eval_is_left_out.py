# not_in_optimizer at 12: model.head
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
torch.manual_seed(0)
model = Model(); optimizer = torch.optim.SGD(model.body.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
