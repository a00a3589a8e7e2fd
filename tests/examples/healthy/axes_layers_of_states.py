import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

enc, dec, fc = nn.LSTM(3, 4, num_layers=2, batch_first=True), nn.LSTM(3, 4, num_layers=2, batch_first=True), nn.Linear(4, 3)
optimizer = torch.optim.Adam([p for m in (enc, dec, fc) for p in m.parameters()])
x, y = torch.randn(4, 5, 3), torch.randn(4, 6, 3)
bi = nn.GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True)
for step in range(2):
    _, (h, c) = enc(x)
    out, _ = dec(y, (h, c))
    _, hb = bi(x)
    last = hb.view(2, 2, 4, 4)[-1]
    both = torch.cat([last[0], last[1]], -1)
    loss = F.mse_loss(fc(out), y) + both.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
