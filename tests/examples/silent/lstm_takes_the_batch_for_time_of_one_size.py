# samples_mixed at 6: `lstm`, `batch_first=True`
import torch
from torch import nn

torch.manual_seed(0)
lstm, fc = nn.LSTM(3, 5), nn.Linear(5, 1)
optimizer = torch.optim.Adam([*lstm.parameters(), *fc.parameters()])
x, y = torch.randn(6, 6, 3), torch.randn(6, 1)
for step in range(3):
    out, _ = lstm(x)
    loss = (fc(out[:, -1]) - y).pow(2).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
