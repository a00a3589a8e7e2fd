"""A convolutional LSTM over frames."""
import torch
from torch import nn


class ConvLSTMCell(nn.Module):
    def __init__(self, i, h, k=3):
        super().__init__()
        self.hidden = h
        self.conv = nn.Conv2d(i + h, 4 * h, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        gates = self.conv(torch.cat([x, h], dim=1))
        i, f, o, g = torch.split(gates, self.hidden, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c

    def init(self, batch, size):
        return torch.zeros(batch, self.hidden, size, size), torch.zeros(batch, self.hidden, size, size)


torch.manual_seed(0)
frames = torch.zeros(2, 5, 1, 6, 6)
for t in range(5):
    frames[:, t, :, t, 1:4] = 1
cell, head = ConvLSTMCell(1, 3), nn.Conv2d(3, 1, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.02)
for step in range(2):
    state, loss = cell.init(2, 6), 0.0
    for t in range(4):
        state = cell(frames[:, t], state)
        loss = loss + nn.functional.binary_cross_entropy_with_logits(head(state[0]), frames[:, t + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
with torch.no_grad():
    print((torch.sigmoid(head(state[0])) > 0.5).sum(), state[1].shape)
