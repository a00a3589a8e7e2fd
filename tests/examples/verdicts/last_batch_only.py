import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(2, 3), torch.ones(2, 1)) for _ in range(4)]
for epoch in range(2):
    for x, y in batches:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    print(epoch, loss.item())
