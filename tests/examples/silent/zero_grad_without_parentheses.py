# result_unused at 10: optimizer.zero_grad
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(20, 3), torch.randn(20, 1)
net.train
for epoch in range(5):
    optimizer.zero_grad
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
