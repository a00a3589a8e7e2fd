# axes_confused at 14: `(6, 4)`, `(4, 6)`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, rnn, out = nn.Embedding(12, 8), nn.LSTM(8, 8), nn.Linear(8, 12)
optimizer = torch.optim.Adam([*emb.parameters(), *rnn.parameters(), *out.parameters()])
text = torch.randint(0, 12, (4, 7))
for step in range(3):
    inputs, targets = text[:, :-1], text[:, 1:]
    h, _ = rnn(emb(inputs.t()))
    loss = F.cross_entropy(out(h).reshape(-1, 12), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
