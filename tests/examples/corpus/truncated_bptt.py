"""Truncated backpropagation through time: detach the state between chunks."""
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.RNN(1, 6, batch_first=True), nn.Linear(6, 1)
series = torch.sin(torch.linspace(0, 6, 31)).view(1, -1, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.05)
for epoch in range(2):
    state, total = None, 0.0
    for start in range(0, 30, 10):
        x, y = series[:, start:start + 10], series[:, start + 1:start + 11]
        out, state = rnn(x, state)
        loss = nn.functional.mse_loss(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state = state.detach()
        total += loss.item()
    print(epoch, f"{total:.4f}")
out, state = rnn(series[:, :10])
loss = head(out).sum()
loss.backward()
try:
    out2, state2 = rnn(series[:, 10:20], state)
    head(out2).sum().backward()
except RuntimeError as error:
    print(str(error)[:55])
