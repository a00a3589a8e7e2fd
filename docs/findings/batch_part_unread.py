# batch_part_unread at 9: `done`
import torch
from torch import nn

value = nn.Linear(2, 1)
optimizer = torch.optim.Adam(value.parameters(), lr=0.01)
memory = [(torch.randn(2), torch.randn(1), torch.randn(2), torch.rand(1) < 0.3) for _ in range(16)]
for start in range(0, 16, 4):
    state, reward, after, done = (torch.stack(part) for part in zip(*memory[start : start + 4]))
    with torch.no_grad():
        target = reward + 0.9 * value(after)
    loss = (value(state) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
