import torch
from torch import nn
torch.manual_seed(0)
cell, out = nn.RNNCell(3, 6), nn.Linear(6, 2)
optimizer = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
for epoch in range(4):
    letters, target = torch.randn(5, 1, 3), torch.randint(0, 2, (5,))
    hidden = torch.zeros(1, 6)
    for t in range(5):
        hidden = cell(letters[t], hidden)
        loss = nn.functional.cross_entropy(out(hidden), target[t : t + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
