import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

time_emb, label_emb, inp, out = nn.Embedding(50, 8), nn.Embedding(4, 8), nn.Linear(3, 8), nn.Linear(8, 3)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
optimizer = torch.optim.Adam([p for m in (time_emb, label_emb, inp, out, layer) for p in m.parameters()])
x, labels = torch.randn(4, 6, 3), torch.randint(0, 4, (4,))
timesteps = torch.arange(4)
for step in range(2):
    t = torch.randint(0, 50, (4,))
    h = inp(x) + time_emb(t)[:, None, :] + label_emb(labels).unsqueeze(1) + time_emb(timesteps)[:, None]
    loss = F.mse_loss(out(layer(h)), torch.randn(4, 6, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
