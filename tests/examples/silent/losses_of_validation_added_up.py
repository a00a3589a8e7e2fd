# graph_grows at 19: total
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def epoch_loss(batches, training):
    total = 0.0
    for x, y in batches:
        if training:
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        else:
            total = total + nn.functional.mse_loss(net(x), y)
    return total


batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(4)]
epoch_loss(batches, True)
print(epoch_loss(batches, False))
