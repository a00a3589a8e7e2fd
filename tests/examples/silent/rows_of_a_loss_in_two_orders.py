# axes_confused at 13: `(9, 4)`, `(4, 9)`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

rnn, out = nn.GRU(3, 8), nn.Linear(8, 5)
optimizer = torch.optim.Adam([*rnn.parameters(), *out.parameters()])
x, tags = torch.randn(4, 9, 3), torch.randint(0, 5, (4, 9))
for step in range(3):
    h, _ = rnn(x.transpose(0, 1))
    loss = F.cross_entropy(out(h).view(-1, 5), tags.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
