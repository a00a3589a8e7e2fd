import torch
from torch import nn

torch.manual_seed(0)
layer, norm, out = nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)
conv, of_channels = nn.Conv1d(3, 5, 3, padding=1), nn.BatchNorm1d(5)
optimizer = torch.optim.SGD([p for part in (layer, norm, out, conv, of_channels) for p in part.parameters()], lr=0.1)
x, y = torch.randn(4, 5, 3), torch.tensor([0, 1, 1, 0])
for k in range(2):
    hidden = norm(layer(x).transpose(1, 2)).transpose(1, 2)
    hidden = hidden + of_channels(conv(x.transpose(1, 2))).transpose(1, 2)
    loss = nn.functional.cross_entropy(out(hidden.relu().mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
