# loss_times_mask at 13: `valid`
import torch
from torch import nn

torch.manual_seed(0)
rnn, out = nn.GRU(2, 6, batch_first=True), nn.Linear(6, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *out.parameters()])
x, y, lengths = torch.randn(3, 5, 2), torch.randn(3, 5), torch.tensor([5, 2, 4])
valid = torch.arange(5)[None] < lengths[:, None]
for step in range(3):
    pred = out(rnn(x)[0]).squeeze(-1)
    err = ((pred - y) ** 2).mean()
    loss = (err * valid).sum() / valid.sum()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
