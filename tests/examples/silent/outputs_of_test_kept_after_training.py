# graph_grows at 15: predictions
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(4)]
for x, y in batches:
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()
predictions = []
for x, _ in batches:
    predictions.append(net(x))
print(torch.cat(predictions).shape)
