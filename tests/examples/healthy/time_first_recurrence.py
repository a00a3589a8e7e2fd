import torch
from torch import nn
torch.manual_seed(0)
lstm, fc = nn.LSTM(5, 8), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*lstm.parameters(), *fc.parameters()], lr=0.01)
x, y = torch.randn(10, 6, 5), torch.randint(0, 3, (6,))
tags = torch.randint(0, 3, (10, 6))
for epoch in range(3):
    out, _ = lstm(x)
    loss = nn.functional.cross_entropy(fc(out[-1]), y)
    loss = loss + nn.functional.cross_entropy(fc(out).permute(0, 2, 1), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
