# loss_below_zero at 12: nll_loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
