import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x = torch.tensor([[1.0, 2.0], [-1.0, -2.0], [2.0, 1.0], [-2.0, -1.0]])
y = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
for step in range(12):
    loss = torch.relu(1 - y * net(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
