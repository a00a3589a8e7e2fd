import torch
import torch.nn as nn

torch.manual_seed(0)
lstm = nn.LSTM(input_size=2, hidden_size=2, batch_first=True)
head = nn.Linear(2, 1)
x = torch.randn(1, 3, 2)
output, (h, c) = lstm(x)
score = head(h[-1])
loss = score.square().mean()
loss.backward()
with torch.no_grad():
    for p in lstm.parameters():
        p -= 0.1 * p.grad
