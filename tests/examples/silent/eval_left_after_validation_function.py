# eval_never_left at 12: net, model.eval()
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 8)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(self.drop(torch.relu(self.body(x))))
def validate(model, x, y): model.eval(); return ((model(x) - y) ** 2).mean().item()
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(12, 3), torch.randn(12, 1)
for epoch in range(3):
    for k in range(0, 12, 6):
        loss = (net(x[k : k + 6]) - y[k : k + 6]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, validate(net, x, y))
