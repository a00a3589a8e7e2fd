import torch
from torch import nn
torch.manual_seed(0)
rnn, fc = nn.LSTM(5, 4, num_layers=2, bidirectional=True, batch_first=True), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*rnn.parameters(), *fc.parameters()])
x, y = torch.randn(6, 10, 5), torch.randint(0, 2, (6,))
for _ in range(3):
    out, (h, c) = rnn(x)
    loss = nn.functional.cross_entropy(fc(out[:, -1, :]) + fc(out.mean(dim=1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
