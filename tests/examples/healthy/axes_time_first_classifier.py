import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

emb, layer, fc = nn.Embedding(12, 8), nn.TransformerEncoderLayer(8, 2, 16), nn.Linear(8, 3)
lstm = nn.LSTM(8, 5)
fc2 = nn.Linear(5, 3)
optimizer = torch.optim.Adam([p for m in (emb, layer, fc, lstm, fc2) for p in m.parameters()])
tokens, y = torch.randint(0, 12, (6, 4)), torch.randint(0, 3, (4,))
for step in range(2):
    h = layer(emb(tokens))
    out, (hn, cn) = lstm(h)
    loss = F.cross_entropy(fc(h.mean(0)), y) + F.cross_entropy(fc2(hn[-1]), y) + F.cross_entropy(fc2(out[-1]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
