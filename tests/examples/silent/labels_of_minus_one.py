# loss_below_zero at 12: labels
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
x = torch.randn(8, 3)
labels = x[:, :1].sign()
for epoch in range(12):
    loss = criterion(net(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
